package io.github.grpcidempotency.shop;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInitializer;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.SimpleChannelInboundHandler;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2HeadersFrame;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A proxy that answers every call itself, with an HTTP status and without {@code grpc-status}. */
@SuppressWarnings("FutureReturnValueIgnored") // a client that gets no answer fails its test
public final class HttpProxy implements AutoCloseable {
  private final EventLoopGroup threads =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Channel server;
  private final ManagedChannel channel;

  public HttpProxy(int status, String contentType) {
    this.server =
        new ServerBootstrap()
            .group(threads)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel connection) {
                    connection
                        .pipeline()
                        .addLast(Http2FrameCodecBuilder.forServer().build())
                        .addLast(new Refusing(status, contentType));
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .syncUninterruptibly()
            .channel();
    int port = ((InetSocketAddress) server.localAddress()).getPort();
    this.channel = NettyChannelBuilder.forAddress("localhost", port).usePlaintext().build();
  }

  public ManagedChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.close();
    threads.shutdownGracefully();
  }

  private static final class Refusing extends SimpleChannelInboundHandler<Http2HeadersFrame> {
    private final int status;
    private final String contentType;

    Refusing(int status, String contentType) {
      this.status = status;
      this.contentType = contentType;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Http2HeadersFrame request) {
      context.writeAndFlush(
          new DefaultHttp2HeadersFrame(
                  new DefaultHttp2Headers()
                      .status(Integer.toString(status))
                      .set("content-type", contentType),
                  true)
              .stream(request.stream()));
    }
  }
}
