import os, socket
from distributed import Client

client = Client(os.environ["DASK_SCHEDULER_ADDRESS"])
client.wait_for_workers(int(os.environ["GRIDBAY_SIZE"]))
hosts = client.run(socket.gethostname)
print(sum(client.gather(client.map(lambda x: x * x, range(100)))), sorted(hosts.values()))
