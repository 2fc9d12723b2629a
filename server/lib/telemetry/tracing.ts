// Traces, if configured (OTEL_EXPORTER_OTLP_ENDPOINT). Without a tracer, OpenTelemetry is not loaded. Spans name each
// other by the text of W3C Trace Context, so that a row or a message can carry a parent.

export type SpanKind = 'server' | 'client' | 'internal'
export type SpanAttributes = Record<string, string | number | boolean>

export interface SpanStart {
  name: string
  kind: SpanKind
  /** The `traceparent` of the parent. Without it, a new trace begins. */
  parent?: string
  /** The `traceparent` of a span in another trace that has caused this one. */
  link?: string
  attributes?: SpanAttributes
  /** On the monotonic clock; now where it is absent. */
  startedAt?: number
}

export interface SpanEnd {
  attributes?: SpanAttributes
  failed?: boolean
  /** On the monotonic clock; now where it is absent. */
  endedAt?: number
}

export interface Span {
  /** https://www.w3.org/TR/trace-context/#traceparent-header */
  readonly traceparent: string
  /** Replaces the name that it was started with. */
  rename(name: string): void
  end(end?: SpanEnd): void
}

export interface Tracer {
  start(span: SpanStart): Span
  /** Sends waiting spans, for at most two seconds. */
  close(): Promise<void>
}

let tracer: Tracer | undefined

export const getTracer = (): Tracer | undefined => tracer

/** Sets the tracer of this process. */
export function setTracer(opened: Tracer | undefined): void {
  tracer = opened
}
