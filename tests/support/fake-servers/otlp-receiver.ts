// A receiver of traces: OTLP over HTTP with JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). It keeps the spans.

export interface ReceivedSpan {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  /** The traces that its links lead to. */
  links: string[]
  attributes: Record<string, unknown>
  /** Attributes of the resource: the process that sent it. */
  resource: Record<string, unknown>
  failed: boolean
}

export interface OtlpReceiver {
  url: string
  spans: ReceivedSpan[]
  /** Each request as it came. */
  requests: { path: string; headers: Record<string, string>; body: string }[]
  /** Answers nothing from now on, until `release` is called. */
  hang(): void
  release(): void
  stop(): Promise<void>
}

interface KeyValue {
  key: string
  value: Record<string, unknown>
}

const toObject = (attributes: KeyValue[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

// biome-ignore lint/suspicious/noExplicitAny: the message of another program
const readSpans = (body: any): ReceivedSpan[] =>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  body.resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    scopeSpans.flatMap(({ spans }: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: as above
      spans.map((span: any) => ({
        ...span,
        parentSpanId: span.parentSpanId || undefined,
        links: (span.links ?? []).map(({ traceId }: { traceId: string }) => traceId),
        attributes: toObject(span.attributes),
        resource: toObject(resource.attributes),
        failed: span.status?.code === 2,
      })),
    ),
  )

export function startOtlpReceiver(): OtlpReceiver {
  const spans: ReceivedSpan[] = []
  const requests: OtlpReceiver['requests'] = []
  let gate: PromiseWithResolvers<void> | undefined
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text()
      await gate?.promise
      requests.push({
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body,
      })
      spans.push(...readSpans(JSON.parse(body)))
      return Response.json({})
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    requests,
    hang() {
      gate = Promise.withResolvers()
    },
    release: () => gate?.resolve(),
    async stop() {
      gate?.resolve()
      await server.stop(true)
    },
  }
}
