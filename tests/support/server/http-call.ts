// A request of a test, and its answer with the body read.

export interface HttpAnswer {
  status: number
  headers: Headers
  text: string
  /** The parsed body; undefined when the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  json: any
}

export interface HttpCall {
  method?: string
  /** Sent as JSON unless it is a string. */
  body?: unknown
  headers?: Record<string, string>
}

type Send = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<HttpAnswer>

/** Short forms of a call, by its method. */
export type Verbs = Record<'post' | 'patch' | 'put' | 'delete', Send>

export function toVerbs(call: (path: string, call: HttpCall) => Promise<HttpAnswer>): Verbs {
  const by =
    (method: string): Send =>
    (path, body, headers) =>
      call(path, { method, body, headers })
  return { post: by('POST'), patch: by('PATCH'), put: by('PUT'), delete: by('DELETE') }
}

export async function readAnswer(response: Response): Promise<HttpAnswer> {
  const text = await response.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text, json }
}
