// The operator's tracing settings. The server hands them to its hit worker too.

export const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type TraceSampler = (typeof TRACE_SAMPLERS)[number]

export interface TracingSettings {
  /** Where spans are posted: the endpoint with `/v1/traces`. */
  url: string
  serviceName: string
  /** May have a key of the receiver. */
  headers: Record<string, string>
  sampler: TraceSampler
  /** For the samplers of a ratio: the share of traces that are kept. */
  ratio: number
}

/** Which part of the installation the spans are of. */
export interface TracedProcess {
  version: string
  node: string
  part: 'server' | 'hit-worker'
}
