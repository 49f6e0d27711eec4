"""The words of a text and how often each stands there, counted by all ranks; and who counted."""

import os
import socket
import sys

from pyspark.sql import SparkSession

ranks = int(os.environ["GRIDBAY_SIZE"])
spark = SparkSession.builder.getOrCreate()
context = spark.sparkContext

# A barrier runs as many tasks at once as there are ranks. Each executor has one core, so each rank
# has one task.
tasks = context.parallelize(range(ranks), ranks).barrier()
hosts = tasks.mapPartitions(lambda _: [socket.gethostname()]).collect()
print("counted by", *sorted(hosts))

with open(sys.argv[1], encoding="utf-8") as text:
    lines = context.parallelize(text.readlines(), 2 * ranks)
counts = lines.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(lambda a, b: a + b)
for word, count in sorted(counts.collect()):
    print(word, count)
spark.stop()
