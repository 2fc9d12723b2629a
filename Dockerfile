# The image of Towpath, from the source: `docker build -t towpath .`. docs/hosting.md says how to run it.
FROM node:22-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates g++ git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/towpath
COPY . .
RUN npm ci --omit=dev && npm run build && install -d -o node -g node -m 0700 /data
ENV DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 3000 3001
HEALTHCHECK CMD node -e "fetch('http://127.0.0.1:3000/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
# Not `npm start`: the process that gets SIGTERM must be the server.
CMD ["node_modules/.bin/bun", "server/main.ts"]
