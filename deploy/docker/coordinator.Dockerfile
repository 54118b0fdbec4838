# Build from the root of the repository:
#   docker build -f deploy/docker/coordinator.Dockerfile -t halogrid-coordinator .
# For other processors too, with BuildKit: add --platform linux/amd64,linux/arm64 to 'docker buildx build'.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS package
# The processor of the image: amd64 or arm64, which npm calls x64 and arm64. The stage itself runs on the builder's.
ARG TARGETARCH
WORKDIR /build/source
COPY . .
# The tarball for the image's platform, as in docs/install.md. The images hold nothing else of halogrid.
RUN --mount=type=cache,target=/root/.npm npm run package -- .. --platform linux-$(echo $TARGETARCH | sed s/amd64/x64/)
WORKDIR /build
RUN tar -xzf halogrid-*.tar.gz && mv halogrid-*/ app && cp -r source/samples app
# 'yes' adds FFmpeg, which decodes videos. Nobody may pass such an image on: see THIRD-PARTY-NOTICES.md.
ARG FFMPEG=no
RUN if [ "$FFMPEG" = yes ]; then \
    name=@seydx/node-av-linux-$(echo $TARGETARCH | sed s/amd64/x64/) && mkdir app/lib/node_modules/@seydx \
    && cp -r "$(node source/scripts/package/locked-folder.mjs $name)" app/lib/node_modules/$name; \
  else rm -r app/samples/videos; fi

FROM package AS files
# A coordinator computes nothing: WebGPU and its software device are for nodes.
RUN cd app/lib/node_modules/halogrid && rm -rf node_modules/webgpu packages/@sparticuz

FROM debian:bookworm-slim
WORKDIR /app
COPY --from=files /build/app .
# Named volumes mounted here take over owner and mode, so that results and the ledger can be written, the ledger by any
# user.
RUN ln -s /app/halogrid /usr/local/bin/halogrid \
  && mkdir /data /ledger && chown 65532:65532 /data /ledger && chmod 1777 /ledger
USER 65532:65532
ENV NODE_ENV=production HALOGRID_LEDGER=/ledger/ledger.sqlite
EXPOSE 7070 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["/app/bin/node", "-e", "fetch('http://127.0.0.1:9464/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["halogrid"]
CMD ["coordinator"]
