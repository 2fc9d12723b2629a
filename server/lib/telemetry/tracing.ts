// Traces, where the operator wants them (OTEL_EXPORTER_OTLP_ENDPOINT). Without a tracer, nothing of OpenTelemetry is loaded.
// Spans name each other by the text of W3C Trace Context, so that a row or a message can carry a parent.

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
  /** Sends what waits, for at most two seconds. */
  close(): Promise<void>
}

let tracer: Tracer | undefined

export const getTracer = (): Tracer | undefined => tracer

/** Traces from now on go there. There is one for each process, as there is one log. */
export function setTracer(opened: Tracer | undefined): void {
  tracer = opened
}
