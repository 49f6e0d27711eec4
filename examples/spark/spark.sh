# Spark standalone over all ranks of a lease; rank 0 runs this under `gridbay run --hosts`:
#
#     sh spark.sh PROGRAM.py [ARGUMENT...]
#     sh spark.sh --check        says what this machine lacks, if anything
#
# 1. A master starts on rank 0, bound to its address in the lease's network.
# 2. A worker starts on every rank, by $GRIDBAY_EXEC. It ends with that connection.
# 3. spark-submit runs the program once all workers have one executor each.
# 4. Whatever started ends, and the exit code is the program's.
export SPARK_HOME="${SPARK_HOME:-/usr/local/lib/spark/pyspark}"
lacking() {
    echo "spark.sh: this machine lacks $1" >&2
    exit 3
}
[ -x "$SPARK_HOME/bin/spark-submit" ] || lacking "$SPARK_HOME/bin/spark-submit"
[ -x /usr/bin/java ] || lacking "/usr/bin/java"
[ -x /usr/bin/python3 ] || lacking "/usr/bin/python3"
[ -x /usr/bin/bash ] || lacking "/usr/bin/bash"
[ "$1" != --check ] || exit 0

# A JVM reserves addresses by the machine's memory unless it is told not to.
small="-Xss512k -XX:+UseSerialGC -XX:ReservedCodeCacheSize=64m -XX:CompressedClassSpaceSize=96m"
# Those that only lead start sooner without the second compiler.
quick="-XX:TieredStopAtLevel=1"
master="spark://$GRIDBAY_ADDRESS:7077"
pids=
stop() {
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null
    wait
}
trap stop EXIT
trap 'exit 143' TERM INT

# Settings of Spark on whichever rank a command runs.
settings="export SPARK_HOME='$SPARK_HOME' SPARK_LOCAL_IP=\$GRIDBAY_ADDRESS HOME=\$PWD \
JAVA_TOOL_OPTIONS='$small' SPARK_DAEMON_MEMORY=128m SPARK_DAEMON_JAVA_OPTS='$quick' \
SPARK_LOCAL_DIRS=\$PWD/spark PYSPARK_PYTHON=/usr/bin/python3 HADOOP_USER_NAME=job;"

eval "$settings"
"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master \
    --host "$GRIDBAY_ADDRESS" --port 7077 --webui-port 8080 2>master.log &
pids=$!
rank=0
while [ "$rank" -lt "$GRIDBAY_SIZE" ]; do
    # A worker tries again by itself while the master is not there yet.
    $GRIDBAY_EXEC "rank$rank" "$settings exec \$SPARK_HOME/bin/spark-class \
org.apache.spark.deploy.worker.Worker --host \$GRIDBAY_ADDRESS --cores 1 --memory 512m \
--work-dir \$PWD/spark $master" 2>"worker$rank.log" &
    pids="$pids $!"
    rank=$((rank + 1))
done

"$SPARK_HOME/bin/spark-submit" --master "$master" --name gridbay \
    --driver-memory 512m --executor-memory 512m --driver-java-options "$quick" \
    --conf spark.executor.cores=1 --conf "spark.cores.max=$GRIDBAY_SIZE" \
    --conf spark.ui.enabled=false \
    --conf "spark.driver.host=$GRIDBAY_ADDRESS" \
    --conf spark.scheduler.minRegisteredResourcesRatio=1.0 \
    --conf spark.scheduler.maxRegisteredResourcesWaitingTime=120s \
    "$@" 2>submit.log
code=$?
[ "$code" = 0 ] || tail -n 30 master.log worker*.log submit.log >&2
exit "$code"
