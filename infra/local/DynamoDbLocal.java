import java.net.InetAddress;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Starts DynamoDB Local for infra/conformance.py, which runs this file as it is: no other machine reaches it, and the system
 * chooses its port. Its command line can do neither. Prints the port, and ends when its input does.
 *
 * <p>DynamoDB Local is started by the method that AWS documents for Java programs. That has no setting for the address either,
 * so the server inside is told before it starts.
 */
final class DynamoDbLocal {
    public static void main(String[] arguments) throws Exception {
        var runner = Class.forName("com.amazonaws.services.dynamodbv2.local.main.ServerRunner");
        var create = runner.getMethod("createServerFromCommandLineArgs", String[].class);
        var dynamoDb = create.invoke(null, (Object) arguments);

        var server = dynamoDb.getClass().getDeclaredField("server");
        server.setAccessible(true);
        var connector = (ServerConnector) ((Server) server.get(dynamoDb)).getConnectors()[0];
        connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
        connector.setPort(0);
        dynamoDb.getClass().getMethod("start").invoke(dynamoDb);
        System.out.println("Listening on port " + connector.getLocalPort());

        System.in.transferTo(java.io.OutputStream.nullOutputStream());
        System.exit(0);
    }
}
