// The only access to the server: the public REST API, with the session cookie in place of an API key.

import { lowerFirst } from '../ui/text.ts'
import { takeEarlyAnswer } from './early-answers.ts'
import { translateError } from './error-texts.ts'
import { toScreenName, withScreenNames } from './field-names.ts'
import { announceWorkspaceGone, countSessionEndings, isSessionHeld, waitForSignIn } from './session-gate.ts'

/** A failed request. `message` is a sentence for people; `errors` has one sentence per invalid field. */
export class ApiError extends Error {
  readonly status: number
  readonly errors: Record<string, string>
  /** The step that the person must take before the request can work, such as `confirmation_required`. */
  readonly code: string | undefined
  constructor(status: number, message: string, errors: Record<string, string> = {}, code?: string) {
    super(message)
    this.status = status
    this.errors = errors
    this.code = code
  }
}

export type QueryParameters = Record<string, string | number | boolean | readonly string[] | null | undefined>

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  headers?: Record<string, string>
  query?: QueryParameters
  body?: unknown
  /** Sends the request in place of `fetch`, with its own body. */
  send?: (url: string, headers: Record<string, string>) => Promise<Response>
  signal?: AbortSignal
  /** The request continues after the page is closed. */
  keepalive?: boolean
  /** The page asks by itself, so that no dialog disturbs the person. Reading is in the background unless said otherwise. */
  isBackground?: boolean
  /** The request is part of signing in or up: 401 then does not mean that the session has ended. */
  anonymous?: boolean
}

export interface ResultPage<T> {
  data: T[]
  nextCursor: string | null
  total: number
}

export const queryString = (query: QueryParameters = {}): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(name, String(item))
  }
  const text = parameters.toString()
  return text && `?${text}`
}

/** Shows the person a dialog. Resolves with whether they have confirmed that it is them. */
type Confirmation = () => Promise<boolean>
let askToConfirm: Confirmation = async () => false

/** The dialog announces itself here, because this file knows no components. */
export function setConfirmation(confirmation: Confirmation) {
  askToConfirm = confirmation
}

/**
 * Sends a request. When the session has ended, it waits until the person has signed in again, and is sent once more
 * (docs/contract.md §16). @throws ApiError, with status 0 when the server cannot be reached
 */
export async function request(path: string, call: RequestOptions = {}, headers: Record<string, string> = {}) {
  if (call.anonymous || call.keepalive) return sendConfirmed(path, call, headers)
  const isBackground = call.isBackground ?? (call.method ?? 'GET') === 'GET'
  const signIn = () => waitForSignIn(isBackground, call.signal)
  if (isSessionHeld() && !(await signIn())) throw new ApiError(401, SIGNED_OUT)
  const endings = countSessionEndings()
  try {
    return await sendConfirmed(path, call, headers)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    // The person may have signed in again while the request was on its way.
    const isSignedIn = (endings !== countSessionEndings() && !isSessionHeld()) || (await signIn())
    if (!isSignedIn) throw error
    return sendConfirmed(path, call, headers)
  }
}

const SIGNED_OUT =
  'You’re signed out, so nothing was saved. Your input is still here. Sign in, then try again.'

/** Where the server asks the person to confirm that it is them, the request is repeated after they did. */
async function sendConfirmed(path: string, call: RequestOptions, headers: Record<string, string>) {
  try {
    return await send(path, call, headers)
  } catch (error) {
    const mustConfirm = error instanceof ApiError && error.code === 'confirmation_required'
    if (!mustConfirm || !(await askToConfirm())) throw error
    return send(path, call, headers)
  }
}

async function send(path: string, call: RequestOptions, headers: Record<string, string>) {
  const { method = 'GET', query, body, signal, keepalive, isBackground } = call
  const url = path + queryString(query)
  let response: Response
  try {
    response = call.send
      ? await call.send(url, headers)
      : await (takeEarlyAnswer(url, headers['X-Workspace'], method !== 'GET' && !isBackground) ??
          fetch(url, {
            method,
            signal,
            keepalive,
            headers: {
              ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
              ...headers,
              ...call.headers,
            },
            body: body === undefined ? undefined : JSON.stringify(body),
          }))
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'Couldn’t reach the server. Check your connection and try again.')
  }
  if (response.ok) return response
  const error = await readError(response)
  // The API's own sentence is about keys, which no person in the dashboard has.
  throw error.status === 401 && !call.anonymous ? new ApiError(401, SIGNED_OUT) : error
}

/** Fields have the names of the screens in every message: the API's own names are for programs. */
async function readError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as {
    error?: string
    code?: string
    message?: string
    errors?: Record<string, string>
  }
  const errors = Object.fromEntries(
    Object.entries(body.errors ?? {}).map(([field, message]) => [field, toSentence(message)]),
  )
  const [first] = Object.entries(errors)
  const message = first ? nameError(first) : translateError(body.error ?? body.message ?? '')
  return new ApiError(
    response.status,
    message || `The server responded with status ${response.status}.`,
    errors,
    body.code,
  )
}

/** The API's messages follow the name of a field (`is too long`). Under the field itself, they are sentences. */
function toSentence(message: string): string {
  const text = withScreenNames(translateError(message))
  return capitalize(/^(?:is|has|was|does|works|cannot)\b/.test(message) ? `this ${text}` : text)
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** `Expires: must be after “Starts”` */
const nameError = ([field, message]: [field: string, message: string]) =>
  `${toScreenName(field)}: ${lowerFirst(message)}`

/**
 * Messages by field. A message that belongs to no field is under `general`.
 * @param shown the fields of the form, such as `name` or `geoTargeting.DE`: messages for other fields go to `general`, with
 * the field's name
 */
export function toFieldErrors(error: Error | null, shown?: readonly string[]): Record<string, string> {
  if (!error) return {}
  const entries = error instanceof ApiError ? Object.entries(error.errors) : []
  if (entries.length === 0) return { general: error.message }
  const isShown = ([field]: [string, string]) =>
    shown === undefined ||
    shown.some((name) => field === name || (/^[.[]/.test(field.slice(name.length)) && field.startsWith(name)))
  const hidden = entries.filter((entry) => !isShown(entry))
  return {
    ...Object.fromEntries(entries.filter(isShown)),
    ...(hidden.length > 0 && { general: hidden.map(nameError).join('. ') }),
  }
}

const WORKSPACE_GONE =
  'You can no longer open this workspace: it was deleted, or you aren’t a member anymore. Ask an owner to invite you again.'

function toWorkspaceError(error: unknown, workspaceId: number): unknown {
  if (!(error instanceof ApiError) || error.status !== 404 || error.message !== 'Workspace not found')
    return error
  announceWorkspaceGone(workspaceId)
  return new ApiError(404, WORKSPACE_GONE)
}

/** The name that the server gives a file. */
export const readFileName = (response: Response) =>
  /filename="?([\w.-]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'download'

/** The API of one workspace. Every method but `raw` resolves with the parsed answer. */
export function createWorkspaceApi(workspaceId: number) {
  const headers = { 'X-Workspace': String(workspaceId) }
  const raw = (path: string, call?: RequestOptions) =>
    request(`/v1${path}`, call, headers).catch((error) => {
      throw toWorkspaceError(error, workspaceId)
    })
  const json = async <T>(path: string, call?: RequestOptions) => (await raw(path, call)).json() as Promise<T>
  /** The `data` member of the answer. */
  const data = async <T>(path: string, call?: RequestOptions) => (await json<{ data: T }>(path, call)).data
  return {
    workspaceId,
    raw,
    get: data,
    page: <T>(path: string, call?: RequestOptions) => json<ResultPage<T>>(path, call),
    post: <T>(path: string, body?: unknown, call?: RequestOptions) =>
      data<T>(path, { ...call, method: 'POST', body }),
    patch: <T>(path: string, body: unknown, call?: RequestOptions) =>
      data<T>(path, { ...call, method: 'PATCH', body }),
    /** A file that the person downloads, and its name. */
    file: async (path: string, query?: QueryParameters) => {
      const response = await raw(path, { query, isBackground: false })
      return { file: await response.blob(), name: readFileName(response) }
    },
    remove: <T>(path: string, call?: RequestOptions) => data<T>(path, { ...call, method: 'DELETE' }),
  }
}

export type Api = ReturnType<typeof createWorkspaceApi>
