// ioredis by its defaults: node ioredis.mjs HOST PORT. Exit code 1 on a failure.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import Redis from 'ioredis';

const [host, port] = process.argv.slice(2);
const tooLong = 'v'.repeat((1 << 20) + 1);

const client = new Redis(Number(port), host);
client.on('error', (error) => assert.fail(error));
await client.del('io', 'io-n', 'io-absent');
assert.equal(await client.ping(), 'PONG');
assert.equal(await client.set('io', 'ä\r\n'), 'OK');
assert.equal(await client.get('io'), 'ä\r\n');
assert.equal(await client.get('io-absent'), null);
assert.equal(await client.mset({ io: '1', 'io-n': '2' }), 'OK');
assert.deepEqual(await client.mget('io', 'io-absent'), ['1', null]);
assert.equal(await client.exists('io', 'io-n'), 2);
assert.equal(await client.incr('io'), 2);
assert.equal(await client.incrby('io', 40), 42);
assert.equal(await client.decr('io'), 41);
assert.equal(await client.decrby('io', 1), 40);
assert.equal(await client.append('io', '0'), 3);
assert.equal(await client.strlen('io'), 3);
assert.equal(await client.getset('io', 'x'), '400');
assert.equal(await client.setnx('io', 'y'), 0);
assert.equal(await client.call('CAS', 'io', 'x', 'z'), 1);
const session = await client.call('SESSION', 'NEW');
for (let i = 0; i < 2; i++) {
  assert.equal(await client.call('SESSION', session, 1, 'INCR', 'io-n'), 3);
}
const pipeline = client.pipeline();
for (let i = 0; i < 200; i++) pipeline.incr('io-n');
assert.deepEqual((await pipeline.exec()).at(-1), [null, 203]);
assert.deepEqual(await client.config('GET', 'appendonly'), ['appendonly', 'yes']);
await assert.rejects(client.multi().incr('io-n').exec(), /nothing is executed/);
assert.equal(await client.get('io-n'), '203');
await assert.rejects(client.expire('io', 10), /unknown command 'expire'/);
await assert.rejects(client.set('io', tooLong), /string exceeds maximum/);
assert.equal(await client.get('io'), 'z');
await client.del('io', 'io-n');
await client.quit();
const text = readFileSync(new URL('node_modules/ioredis/package.json', import.meta.url));
console.log(`ioredis ${JSON.parse(text).version}`);
