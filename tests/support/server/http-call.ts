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
