"""redis-py's RedisCluster, against mayfly --shards 2: the steps of scripts/suite/clients.py. Arguments: port, password."""

import sys
import threading

import redis
from redis.cluster import ClusterNode, RedisCluster

from transcript import eventually, expect, tell

PORT, PASSWORD = int(sys.argv[1]), sys.argv[2]
KEYS = 200


def main():
    login = {"username": "default", "password": PASSWORD}
    # It is told of one node, and finds the other.
    r = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", PORT + 1)], **login)
    nodes = r.get_primaries()
    expect(sorted(node.port for node in nodes) == [PORT, PORT + 1], f"{nodes}")
    tell("finds all nodes by one of them", len(nodes), r.get_node_from_key("a").port - PORT, r.get_node_from_key("b").port - PORT)

    for number in range(KEYS):
        r.set(f"key:{number}", number, ex=100)
    expect(all(int(r.get(f"key:{number}")) == number for number in range(KEYS)), "a value is lost")
    sizes = r.dbsize(target_nodes=RedisCluster.PRIMARIES)
    counts = list(sizes.values()) if isinstance(sizes, dict) else [sizes]
    expect(sum(counts) == KEYS and (len(counts) == 1 or min(counts) > KEYS // 4), f"{sizes}")
    tell("spreads keys over the nodes", sum(counts))

    saw = [r.mset_nonatomic({"m:1": 1, "m:2": 2, "m:3": 3}) is not None, r.mget_nonatomic("m:1", "m:2", "m:3")]
    saw += [r.mset({"{tag}1": 1, "{tag}2": 2}), r.mget("{tag}1", "{tag}2")]
    try:
        r.execute_command("MGET", "a", "b", target_nodes=r.get_node_from_key("a"))
    except redis.RedisError as error:
        saw.append(str(error))
    tell("uses several keys", *saw)

    with r.pipeline() as p:
        for number in range(50):
            p.incr(f"n:{number}").expire(f"n:{number}", 100)
        replies = p.execute()
    tell("sends pipelines to all nodes", len(replies), sum(reply for reply in replies if reply is not True))

    script = r.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    tell("runs scripts where their keys are", r.eval("return redis.call('INCR', KEYS[1])", 1, "s"), hasattr(script, "sha"))

    # A redirect, as a client gets one whose map is out of date.
    plain = redis.Redis(port=PORT, **login)
    try:
        plain.get("a")
    except redis.ResponseError as error:
        tell("is redirected by the wrong node", str(error).replace(str(PORT + 1), "PORT"))

    got = threading.Event()
    waiter = redis.Redis(port=r.get_node_from_key("list").port, **login)
    thread = threading.Thread(target=lambda: waiter.blpop("list", 20) and got.set())
    thread.start()
    eventually(lambda: waiter.info("clients")["blocked_clients"], lambda n: n == 1, "nobody waits")
    r.rpush("list", "x")
    thread.join()
    tell("wakes a client that waits", got.is_set())


main()
