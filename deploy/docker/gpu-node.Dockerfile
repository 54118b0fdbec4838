# Build from the root of the repository:
#   docker build -f deploy/docker/gpu-node.Dockerfile -t halogrid-gpu-node .
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

FROM debian:bookworm-slim
# What NVIDIA's Vulkan driver needs from the image: the loader, and libEGL and libXext, which the driver's libGLX_nvidia
# loads even without a display. Seen on an H200: with the loader alone vkCreateInstance fails with "Found no drivers".
RUN apt-get update \
  && apt-get install -y --no-install-recommends libegl1 libvulkan1 libxext6 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=package /build/app .
RUN ln -s /app/halogrid /usr/local/bin/halogrid \
  && mkdir /data && chown 65532:65532 /data
USER 65532:65532
# 'graphics' makes the NVIDIA container toolkit mount the Vulkan driver, and 'video' makes it mount libnvcuvid, which
# decodes recordings; its default is only compute and utility.
ENV NODE_ENV=production \
  NVIDIA_DRIVER_CAPABILITIES=graphics,video,compute,utility
EXPOSE 9465
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["/app/bin/node", "-e", "fetch('http://127.0.0.1:9465/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["halogrid"]
CMD ["node", "--coordinator", "coordinator:7070"]
