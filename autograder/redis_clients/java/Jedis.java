// Jedis by its defaults: java -cp JARS Jedis.java HOST PORT. Exit code 1 on a failure.

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.Properties;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisDataException;

final class Main {
  private static final int TOO_LONG = (1 << 20) + 1;
  private static final int PIPELINED = 200;

  // A command of this store.
  private enum Own implements ProtocolCommand {
    CAS,
    SESSION;

    @Override
    public byte[] getRaw() {
      return name().getBytes();
    }
  }

  private static void expect(Object found, Object wanted, String what) {
    if (Objects.equals(found, wanted)) return;
    System.out.println("jedis: " + what + ": " + found + " instead of " + wanted);
    System.exit(1);
  }

  private static void expectError(Runnable call, String text) {
    try {
      call.run();
    } catch (JedisDataException error) {
      expect(error.getMessage().contains(text), true, error.getMessage());
      return;
    }
    expect("no error", text, "an error");
  }

  private static String version() throws IOException {
    String path = "/META-INF/maven/redis.clients/jedis/pom.properties";
    Properties properties = new Properties();
    properties.load(RedisClient.class.getResourceAsStream(path));
    return properties.getProperty("version");
  }

  @SuppressWarnings("deprecation") // commands that Redis has replaced
  public static void main(String[] arguments) throws IOException {
    RedisClient client = RedisClient.create(arguments[0], Integer.parseInt(arguments[1]));
    client.del("jedis", "jedis-n", "jedis-absent");
    expect(client.ping(), "PONG", "ping");
    expect(client.set("jedis", "ä\r\n"), "OK", "set");
    expect(client.get("jedis"), "ä\r\n", "get");
    expect(client.get("jedis-absent"), null, "get of an absent key");
    expect(client.mset("jedis", "1", "jedis-n", "2"), "OK", "mset");
    expect(client.mget("jedis", "jedis-absent"), Arrays.asList("1", null), "mget");
    expect(client.exists("jedis", "jedis-n"), 2L, "exists");
    expect(client.incr("jedis"), 2L, "incr");
    expect(client.incrBy("jedis", 40), 42L, "incrBy");
    expect(client.decr("jedis"), 41L, "decr");
    expect(client.decrBy("jedis", 1), 40L, "decrBy");
    expect(client.append("jedis", "0"), 3L, "append");
    expect(client.strlen("jedis"), 3L, "strlen");
    expect(client.getSet("jedis", "x"), "400", "getSet");
    expect(client.setnx("jedis", "y"), 0L, "setnx");
    expect(client.sendCommand(Own.CAS, "jedis", "x", "z"), 1L, "a command of this store");
    String session = client.sendCommand(Own.SESSION, "NEW").toString();
    for (int i = 0; i < 2; i++) {
      Object reply = client.sendCommand(Own.SESSION, session, "1", "INCR", "jedis-n");
      expect(reply, 3L, "a retry in a session");
    }
    Response<Long> last = null;
    try (Pipeline pipeline = client.pipelined()) {
      for (int i = 0; i < PIPELINED; i++) last = pipeline.incr("jedis-n");
    }
    expect(last.get(), PIPELINED + 3L, "pipeline");
    try (AbstractTransaction transaction = client.multi()) {
      transaction.incr("jedis-n");
      expectError(transaction::exec, "MULTI is not supported");
    } catch (JedisDataException error) {
      expect(error.getMessage().contains("MULTI is not supported"), true, error.getMessage());
    }
    expect(client.get("jedis-n"), String.valueOf(PIPELINED + 3), "get after a transaction");
    expectError(() -> client.expire("jedis", 10), "unknown command 'EXPIRE'");
    expectError(() -> client.set("jedis", "v".repeat(TOO_LONG)), "string exceeds maximum");
    expect(client.get("jedis"), "z", "get after a value that is too long");
    client.del("jedis", "jedis-n");
    client.close();
    System.out.println("jedis " + version());
  }
}
