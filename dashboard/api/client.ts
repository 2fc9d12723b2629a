// The only door to the server: the same REST API that everyone has, with the session cookie in place of a key.

/** What the server says went wrong; `errors` by field where the input was at fault. */
export class ApiError extends Error {
  readonly status: number
  readonly errors: Record<string, string>
  constructor(status: number, message: string, errors: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

export type QueryParameters = Record<string, string | number | boolean | readonly string[] | null | undefined>

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  query?: QueryParameters
  body?: unknown
  signal?: AbortSignal
  /** Goes on when the page is left. */
  keepalive?: boolean
}

export interface ResultPage<T> {
  data: T[]
  nextCursor: string | null
  total: number
}

export const queryString = (query: QueryParameters = {}): string => {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) written.append(name, String(one))
  }
  const text = written.toString()
  return text && `?${text}`
}

/** @throws ApiError, with status 0 where the server could not be reached */
export async function request(path: string, call: RequestOptions = {}, headers: Record<string, string> = {}) {
  const { method = 'GET', query, body, signal, keepalive } = call
  let response: Response
  try {
    response = await fetch(path + queryString(query), {
      method,
      signal,
      keepalive,
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'The server cannot be reached. Check your connection and try again.')
  }
  if (response.ok) return response
  const said = (await response.json().catch(() => ({}))) as {
    error?: string
    message?: string
    errors?: Record<string, string>
  }
  throw new ApiError(
    response.status,
    said.error ?? said.message ?? `The server answered ${response.status}.`,
    said.errors,
  )
}

/** The API as one workspace sees it. */
export function createWorkspaceApi(workspaceId: number) {
  const headers = { 'X-Workspace': String(workspaceId) }
  const raw = (path: string, call?: RequestOptions) => request(`/v1${path}`, call, headers)
  const json = async <T>(path: string, call?: RequestOptions) => (await raw(path, call)).json() as Promise<T>
  /** What stands under `data`. */
  const data = async <T>(path: string, call?: RequestOptions) => (await json<{ data: T }>(path, call)).data
  return {
    workspaceId,
    raw,
    get: data,
    page: <T>(path: string, call?: RequestOptions) => json<ResultPage<T>>(path, call),
    post: <T>(path: string, body?: unknown) => data<T>(path, { method: 'POST', body }),
    patch: <T>(path: string, body: unknown) => data<T>(path, { method: 'PATCH', body }),
    remove: <T>(path: string, call?: RequestOptions) => data<T>(path, { ...call, method: 'DELETE' }),
  }
}

export type Api = ReturnType<typeof createWorkspaceApi>
