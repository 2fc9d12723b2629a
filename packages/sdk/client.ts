// The client of @towpath/sdk: sends the operations of the API, tries again, and reads pages. packages/build/generate-client.ts adds a
// method for each operation.

export interface ClientOptions {
  /** The address of the server, such as `https://go.example`. */
  url: string
  /** An API key of the workspace (Settings > API Keys). */
  apiKey: string
  /** Retries after the first attempt. The default is 2. */
  maxRetries?: number
  /** Milliseconds for one try. The default is 60,000. */
  timeoutMs?: number
  /** The longest wait before another try, in milliseconds. When the server asks for more, the call fails. The default is 60,000. */
  maxWaitMs?: number
  /** Replaces the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Options of one call. They override the client's options. */
export interface CallOptions {
  signal?: AbortSignal
  /** Replaces the random key. Calls with the same key and body within 24 hours are one call. */
  idempotencyKey?: string
  /** Further headers, such as `If-Match`. */
  headers?: Record<string, string>
  maxRetries?: number
  timeoutMs?: number
}

/** A value of a query. A list is any of its values. */
export type QueryValue = string | number | boolean | Date | readonly (string | number)[]

/** The answer of a list: one page. */
export interface Page<T> {
  data: T[]
  nextCursor: string | null
  total: number
}

/** A call that the server refused or that did not reach it. */
export class ApiError extends Error {
  override name = 'ApiError'
  /** The status of the answer; 0 where there was none. */
  readonly status: number
  /** Messages by field, at 422. */
  readonly errors: Record<string, string>
  /** The step that a person must do first, such as `confirmation_required`. */
  readonly code: string | undefined
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number | undefined

  constructor(message: string, facts: Partial<ApiError> = {}) {
    super(message, { cause: facts.cause })
    this.status = facts.status ?? 0
    this.errors = facts.errors ?? {}
    this.code = facts.code
    this.requestId = facts.requestId
    this.retryAfter = facts.retryAfter
  }
}

/** 400, 413, 415, 422: the call itself is wrong. `errors` names the fields. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError'
}
/** 401: the key is missing, revoked or expired. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError'
}
/** 403: the plan or the scopes of the key do not allow it. */
export class PermissionError extends ApiError {
  override name = 'PermissionError'
}
/** 404 */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
}
/** 409 and 412: a name is taken, or another person has changed the resource since. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
}
/** 429 */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
}
/** 5xx */
export class ServerError extends ApiError {
  override name = 'ServerError'
}
/** No answer, or one that is not of a Towpath server. */
export class ConnectionError extends ApiError {
  override name = 'ConnectionError'
}

const ERRORS: Record<number, typeof ApiError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: RateLimitError,
}

/** Rows that follow a position. Later ones follow `after`: keep it for the next time. */
export interface FeedPage<T> {
  data: T[]
  after: string
  hasMore: boolean
}

type AnyPage<T> = Page<T> | FeedPage<T>

/** The rows of a list, page after page: `for await (const link of towpath.listLinks()) …` */
export class Pages<T, P extends AnyPage<T> = Page<T>> implements AsyncIterable<T> {
  readonly #read: (position: string | undefined) => Promise<P>

  constructor(read: (position: string | undefined) => Promise<P>) {
    this.#read = read
  }

  /** The first page. That of a list has the number of all rows. */
  first(): Promise<P> {
    return this.#read(undefined)
  }

  /** All pages, one after another. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let position: string | undefined
    do {
      const page = await this.#read(position)
      yield page
      position = findNext(page)
    } while (position !== undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data
  }

  /** The first rows as a list. @param max the default is all */
  async toArray(max = Number.POSITIVE_INFINITY): Promise<T[]> {
    const rows: T[] = []
    if (max < 1) return rows
    for await (const row of this) {
      rows.push(row)
      if (rows.length >= max) break
    }
    return rows
  }
}

/** @returns undefined after the last page that there is now */
function findNext(page: AnyPage<unknown>): string | undefined {
  if ('hasMore' in page) return page.hasMore ? page.after : undefined
  return page.nextCursor ?? undefined
}

/** The description of an operation in the API's document. */
export interface OperationFacts {
  method: string
  path: string
  /** Names of parameters that go into the query. The rest is the body. */
  query: readonly string[]
  body: 'none' | 'fields' | 'whole'
  /** Takes an Idempotency-Key. */
  idempotent: boolean
  /** `data`: the member `data` of the answer; `json`: the answer; `file`: the response, to be read as a stream. */
  answer: 'data' | 'json' | 'file'
}

type Parameters = Record<string, unknown>

const RETRY_FIRST_MS = 500

/** Sends operations. The methods of `Towpath` are made from the API's document. */
export class TowpathClient {
  readonly #options: ClientOptions
  readonly #origin: string

  constructor(options: ClientOptions) {
    const url = URL.canParse(options.url) ? new URL(options.url) : undefined
    if (!url || !/^https?:$/.test(url.protocol))
      throw new TypeError('url: must be the address of a Towpath server, such as https://go.example')
    if (!/^[!-~]+$/.test(options.apiKey ?? ''))
      throw new TypeError('apiKey: must be an API key (Settings > API Keys)')
    this.#options = options
    this.#origin = url.origin
  }

  protected list<T, P extends AnyPage<T> = Page<T>>(
    operation: OperationFacts,
    parameters: Parameters,
    options: CallOptions = {},
  ): Pages<T, P> {
    const name = operation.query.includes('cursor') ? 'cursor' : 'after'
    return new Pages((position) =>
      this.send<P>(
        operation,
        position === undefined ? parameters : { ...parameters, [name]: position },
        options,
      ),
    )
  }

  protected async send<T>(
    operation: OperationFacts,
    parameters: Parameters,
    options: CallOptions = {},
  ): Promise<T> {
    const { maxRetries = this.#options.maxRetries ?? 2, signal } = options
    const { url, init } = this.#toRequest(operation, parameters, options)
    for (let tries = 0; ; tries++) {
      try {
        return await this.#try<T>(operation, url, init, options)
      } catch (error) {
        if (!(error instanceof ApiError) || signal?.aborted) throw error
        const waitMs = this.#findWait(operation, error, tries)
        if (tries >= maxRetries || waitMs === undefined) throw error
        await wait(waitMs, signal)
      }
    }
  }

  #toRequest(
    { method, path, query: names, body: kind, idempotent }: OperationFacts,
    parameters: Parameters,
    { headers, idempotencyKey }: CallOptions,
  ): { url: string; init: RequestInit } {
    const query = new URLSearchParams()
    const fields: Parameters = {}
    let route = path
    for (const [name, value] of Object.entries(parameters)) {
      if (value === undefined) continue
      if (route.includes(`{${name}}`)) route = route.replace(`{${name}}`, () => toPathText(name, value))
      else if (names.includes(name)) for (const text of toQueryTexts(value)) query.append(name, text)
      else fields[name] = value
    }
    const missing = /\{(\w+)\}/.exec(route)?.[1]
    if (missing !== undefined) throw new TypeError(`${missing}: is required`)
    const body = kind === 'none' ? undefined : kind === 'whole' ? fields.body : fields
    const isForm = body instanceof FormData
    // No operation without a body has fields: the server names them.
    for (const name of kind === 'none' ? Object.keys(fields) : []) query.append(name, String(fields[name]))
    return {
      url: `${this.#origin}${route}${query.size > 0 ? `?${query}` : ''}`,
      init: {
        method,
        body: isForm ? body : body === undefined ? undefined : JSON.stringify(body),
        headers: {
          Authorization: `Bearer ${this.#options.apiKey}`,
          ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
          // One key for all attempts, so that the server does the work once.
          ...(idempotent && { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() }),
          ...headers,
        },
        // The key must only be sent to this server.
        redirect: 'manual',
      },
    }
  }

  async #try<T>(
    { answer }: OperationFacts,
    url: string,
    init: RequestInit,
    { signal, timeoutMs = this.#options.timeoutMs ?? 60_000 }: CallOptions,
  ): Promise<T> {
    signal?.throwIfAborted()
    const ownFetch = this.#options.fetch ?? fetch
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    const either = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
    try {
      const response = await ownFetch(url, { ...init, signal: either })
      if (!response.ok) throw await toError(response)
      if (answer === 'file') return response as T
      const body = (await response.json().catch(() => undefined)) as { data?: unknown } | undefined
      if (typeof body !== 'object' || body === null || !('data' in body)) throw notTowpath(response)
      return (answer === 'data' ? body.data : body) as T
    } catch (cause) {
      if (cause instanceof ApiError) throw cause
      signal?.throwIfAborted()
      const reason = timeout.signal.aborted ? `no answer within ${timeoutMs} ms` : toMessage(cause)
      throw new ConnectionError(`${new URL(url).origin} cannot be reached: ${reason}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }

  /** @returns undefined if a retry could do the work twice, or makes no sense */
  #findWait({ method, idempotent }: OperationFacts, error: ApiError, tries: number): number | undefined {
    const { status, retryAfter } = error
    const isRefused = status === 429
    // The server, or a proxy in front of it, may have done the work before it failed.
    const isLost = [0, 502, 503, 504].includes(status)
    const mayRepeat = idempotent || ['GET', 'PUT', 'PATCH'].includes(method)
    if (!isRefused && !(isLost && mayRepeat)) return undefined
    if (retryAfter === undefined) return RETRY_FIRST_MS * 2 ** tries * (0.5 + Math.random() / 2)
    const waitMs = retryAfter * 1000
    return waitMs <= (this.#options.maxWaitMs ?? 60_000) ? waitMs : undefined
  }
}

const toMessage = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** A dot or a slash would name another path. */
function toPathText(name: string, value: unknown): string {
  const text = String(value)
  if (text === '' || /^\.+$/.test(text)) throw new TypeError(`${name}: is not valid`)
  return encodeURIComponent(text)
}

function toQueryTexts(value: unknown): string[] {
  if (value === null) return []
  if (Array.isArray(value)) return value.flatMap(toQueryTexts)
  return [value instanceof Date ? value.toISOString() : String(value)]
}

function notTowpath({ status, url }: Response): ConnectionError {
  const where = url === '' ? 'The server' : new URL(url).origin
  return new ConnectionError(`${where} answered HTTP ${status}, and not as a Towpath server`, { status })
}

async function toError(response: Response): Promise<ApiError> {
  const { status, headers } = response
  const body = (await response.json().catch(() => undefined)) as
    | { error?: unknown; errors?: Record<string, string>; code?: string }
    | undefined
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfter = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
  if (typeof body?.error !== 'string') {
    const error = notTowpath(response)
    return new ConnectionError(error.message, { status, retryAfter })
  }
  const OwnError = ERRORS[status] ?? (status >= 500 ? ServerError : ApiError)
  const { errors, code } = body
  const requestId = headers.get('x-request-id') ?? undefined
  return new OwnError(body.error, { status, errors, code, retryAfter, requestId })
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
