// node-redis by its defaults: node node_redis.mjs HOST PORT. Exit code 1 on a failure.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createClient } from 'redis';

const [host, port] = process.argv.slice(2);
const tooLong = 'v'.repeat((1 << 20) + 1);

const client = createClient({ socket: { host, port: Number(port) } });
client.on('error', (error) => assert.fail(error));
await client.connect();
await client.del(['node', 'node-n', 'node-absent']);
assert.equal(await client.ping(), 'PONG');
assert.equal(await client.set('node', 'ä\r\n'), 'OK');
assert.equal(await client.get('node'), 'ä\r\n');
assert.equal(await client.get('node-absent'), null);
assert.equal(await client.mSet({ node: '1', 'node-n': '2' }), 'OK');
assert.deepEqual(await client.mGet(['node', 'node-absent']), ['1', null]);
assert.equal(await client.exists(['node', 'node-n']), 2);
assert.equal(await client.incr('node'), 2);
assert.equal(await client.incrBy('node', 40), 42);
assert.equal(await client.decr('node'), 41);
assert.equal(await client.decrBy('node', 1), 40);
assert.equal(await client.append('node', '0'), 3);
assert.equal(await client.strLen('node'), 3);
assert.equal(await client.getSet('node', 'x'), '400');
assert.equal(await client.setNX('node', 'y'), 0);
assert.equal(await client.sendCommand(['CAS', 'node', 'x', 'z']), 1);
const session = String(await client.sendCommand(['SESSION', 'NEW']));
for (let i = 0; i < 2; i++) {
  assert.equal(await client.sendCommand(['SESSION', session, '1', 'INCR', 'node-n']), 3);
}
const replies = await Promise.all(Array.from({ length: 200 }, () => client.incr('node-n')));
assert.deepEqual(replies, Array.from({ length: 200 }, (_, i) => i + 4));
assert.equal((await client.configGet(['save', 'appendonly'])).appendonly, 'yes');
await assert.rejects(client.multi().incr('node-n').exec(), /MULTI is not supported/);
assert.equal(await client.get('node-n'), '203');
await assert.rejects(client.expire('node', 10), /unknown command 'EXPIRE'/);
await assert.rejects(client.set('node', tooLong), /string exceeds maximum/);
assert.equal(await client.get('node'), 'z');
await client.del(['node', 'node-n']);
await client.close();
const text = readFileSync(new URL('node_modules/redis/package.json', import.meta.url));
console.log(`node-redis ${JSON.parse(text).version}`);
