"""redis-py by its defaults: redis_py.py HOST PORT. Prints the version; exit code 1 on a failure."""

import sys

import redis

TOO_LONG = (1 << 20) + 1
PIPELINED = 200


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        sys.exit(f"redis-py {redis.__version__}: {what}: {found!r} instead of {wanted!r}")


def expect_error(client: redis.Redis, text: str, *words: str) -> None:
    try:
        found = client.execute_command(*words)
    except redis.ResponseError as error:
        expect(text in str(error), True, f"the error {error} says {text}")
    else:
        expect(found, text, " ".join(words)[:80])


def expect_refused_transaction(client: redis.Redis) -> None:
    before = client.get("py-n")
    try:
        found = client.pipeline().incr("py-n").execute()
    except redis.ResponseError as error:
        expect("MULTI is not supported" in str(error), True, f"the error {error} names MULTI")
    else:
        expect(found, "an error", "a transaction")
    expect(client.get("py-n"), before, "get after a transaction")


def run(host: str, port: int) -> None:
    client = redis.Redis(host, port)
    client.delete("py", "py-n", "py-absent")
    expect(client.ping(), True, "ping")
    expect(client.set("py", "ä\r\n"), True, "set")
    expect(client.get("py"), "ä\r\n".encode(), "get")
    expect(client.get("py-absent"), None, "get of an absent key")
    expect(client.mset({"py": 1, "py-n": 2}), True, "mset")
    expect(client.mget("py", "py-absent"), [b"1", None], "mget")
    expect(client.exists("py", "py-n"), 2, "exists")
    expect(client.incr("py"), 2, "incr")
    expect(client.incr("py", 40), 42, "incr by an amount")
    expect(client.decr("py", 2), 40, "decr by an amount")
    expect(client.append("py", "0"), 3, "append")
    expect(client.strlen("py"), 3, "strlen")
    expect(client.getset("py", "x"), b"400", "getset")
    expect(client.setnx("py", "y"), False, "setnx")
    expect(client.execute_command("CAS", "py", "x", "z"), 1, "a command of this store")
    session = client.execute_command("SESSION", "NEW")
    for _ in range(2):
        reply = client.execute_command("SESSION", session, 1, "INCR", "py-n")
        expect(reply, 3, "a retry in a session")
    pipeline = client.pipeline(transaction=False)
    for _ in range(PIPELINED):
        pipeline.incr("py-n").get("py-n")
    expect(pipeline.execute()[-1], str(PIPELINED + 3).encode(), "pipeline")
    expect(client.config_get("save", "appendonly")["appendonly"], "yes", "config get")
    expect("get" in client.command(), True, "command")
    expect_refused_transaction(client)
    expect_error(client, "unknown command 'EXPIRE'", "EXPIRE", "py", "10")
    expect_error(client, "unknown command 'SCAN'", "SCAN", "0")
    expect_error(client, "string exceeds maximum", "SET", "py", "v" * TOO_LONG)
    expect(client.get("py"), b"z", "get after a value that is too long")
    client.delete("py", "py-n")
    client.close()


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]))
    print(f"redis-py {redis.__version__}")
