// Whether Java accepts the certificate of a server: java Trust.java TRUSTSTORE URL
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import javax.net.ssl.SSLException;

class Trust {
  public static void main(String[] words) throws Exception {
    System.setProperty("javax.net.ssl.trustStore", words[0]);
    System.setProperty("javax.net.ssl.trustStorePassword", "changeit");
    var request = HttpRequest.newBuilder(URI.create(words[1])).build();
    try {
      HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
    } catch (SSLException refused) {
      System.out.println(refused.getMessage());
      System.exit(3);
    }
  }
}
