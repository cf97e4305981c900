// go-redis by its defaults: go run . HOST PORT. Exit code 1 on a failure.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	tooLong   = 1<<20 + 1
	pipelined = 200
)

func expect(found any, err error, wanted any, what string) {
	if err != nil || found != wanted {
		fmt.Printf("go-redis: %s: %v, %v instead of %v\n", what, found, err, wanted)
		os.Exit(1)
	}
}

func expectError(err error, text, what string) {
	if err == nil || !strings.Contains(err.Error(), text) {
		fmt.Printf("go-redis: %s: %v does not say %q\n", what, err, text)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: net.JoinHostPort(os.Args[1], os.Args[2])})
	client.Del(ctx, "go", "go-n", "go-absent")

	text, err := client.Ping(ctx).Result()
	expect(text, err, "PONG", "ping")
	text, err = client.Set(ctx, "go", "ä\r\n", 0).Result()
	expect(text, err, "OK", "set")
	text, err = client.Get(ctx, "go").Result()
	expect(text, err, "ä\r\n", "get")
	expectError(client.Get(ctx, "go-absent").Err(), redis.Nil.Error(), "get of an absent key")
	text, err = client.MSet(ctx, "go", 1, "go-n", 2).Result()
	expect(text, err, "OK", "mset")
	values, err := client.MGet(ctx, "go", "go-absent").Result()
	expect(len(values) == 2 && values[0] == "1" && values[1] == nil, err, true, "mget")

	for _, each := range []struct {
		command *redis.IntCmd
		wanted  int64
	}{
		{client.Exists(ctx, "go", "go-n"), 2},
		{client.Incr(ctx, "go"), 2},
		{client.IncrBy(ctx, "go", 40), 42},
		{client.Decr(ctx, "go"), 41},
		{client.DecrBy(ctx, "go", 1), 40},
		{client.Append(ctx, "go", "0"), 3},
		{client.StrLen(ctx, "go"), 3},
	} {
		number, err := each.command.Result()
		expect(number, err, each.wanted, each.command.Name())
	}
	text, err = client.GetSet(ctx, "go", "x").Result()
	expect(text, err, "400", "getset")
	reply, err := client.Do(ctx, "SETNX", "go", "y").Int64()
	expect(reply, err, int64(0), "setnx")
	// The method sends SET with an option.
	expectError(client.SetNX(ctx, "go", "y", 0).Err(), "SET has no options", "SetNX")
	reply, err = client.Do(ctx, "CAS", "go", "x", "z").Int64()
	expect(reply, err, int64(1), "a command of this store")
	session, err := client.Do(ctx, "SESSION", "NEW").Int64()
	expect(session > 0, err, true, "a new session")
	for range 2 {
		reply, err = client.Do(ctx, "SESSION", session, 1, "INCR", "go-n").Int64()
		expect(reply, err, int64(3), "a retry in a session")
	}
	var last *redis.IntCmd
	_, err = client.Pipelined(ctx, func(pipeline redis.Pipeliner) error {
		for range pipelined {
			last = pipeline.Incr(ctx, "go-n")
		}
		return nil
	})
	expect(last.Val(), err, int64(pipelined+3), "pipeline")
	_, err = client.TxPipelined(ctx, func(pipeline redis.Pipeliner) error {
		return pipeline.Incr(ctx, "go-n").Err()
	})
	expectError(err, "MULTI is not supported", "a transaction")
	reply, err = client.Get(ctx, "go-n").Int64()
	expect(reply, err, int64(pipelined+3), "get after a transaction")
	settings, err := client.ConfigGet(ctx, "appendonly").Result()
	expect(settings["appendonly"], err, "yes", "config get")
	commands, err := client.Command(ctx).Result()
	expect(commands["get"] != nil && commands["get"].ReadOnly, err, true, "command")
	expectError(client.Expire(ctx, "go", time.Minute).Err(), "unknown command 'expire'", "expire")
	long := client.Set(ctx, "go", strings.Repeat("v", tooLong), 0)
	expectError(long.Err(), "string exceeds maximum", "a value that is too long")
	text, err = client.Get(ctx, "go").Result()
	expect(text, err, "z", "get after a value that is too long")
	client.Del(ctx, "go", "go-n")
	expect(nil, client.Close(), nil, "close")
	fmt.Printf("go-redis %s\n", redis.Version())
}
