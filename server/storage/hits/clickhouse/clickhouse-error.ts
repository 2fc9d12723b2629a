// The error class of ClickHouse requests. No message has an address, a password or a value.

/** ClickHouse's error codes that Towpath handles (https://github.com/ClickHouse/ClickHouse, ErrorCodes.cpp). */
export const CLICKHOUSE_CODES = {
  unknownTable: 60,
  unknownDatabase: 81,
  readOnly: 164,
  unknownUser: 192,
  wrongPassword: 193,
  requiredPassword: 194,
  tooManyQueries: 202,
  memoryLimit: 241,
  accessDenied: 497,
  authenticationFailed: 516,
} as const

const MESSAGE_MAX = 400

interface ClickHouseErrorDetail {
  /**
   * ClickHouse's code; 0 for an answer of another program, and
   * undefined without an answer.
   */
  code?: number
  /** The HTTP status of an answer. */
  status?: number
  /** The runtime's code of a failed connection, such as `ECONNREFUSED`. */
  reason?: string
  /** No byte of the request has reached a server. */
  isUnsent?: boolean
  cause?: unknown
}

export class ClickHouseError extends Error {
  readonly code: number | undefined
  readonly status: number | undefined
  readonly reason: string | undefined
  readonly isUnsent: boolean

  constructor(
    message: string,
    { code, status, reason, isUnsent = false, cause }: ClickHouseErrorDetail = {},
  ) {
    super(message.slice(0, MESSAGE_MAX), { cause })
    this.name = 'ClickHouseError'
    this.code = code
    this.status = status
    this.reason = reason
    this.isUnsent = isUnsent
  }

  /** True if the server cannot be reached, or the connection broke. False for a timeout, whose cause can be the call. */
  get isAway(): boolean {
    return this.code === undefined && this.reason !== 'AbortError' && this.reason !== 'TimeoutError'
  }
}

/** @param text the body of ClickHouse's answer: `Code: 81. DB::Exception: Database x does not exist. (UNKNOWN_DATABASE) …` */
export function toServerError(status: number, codeHeader: string | null, text: string): ClickHouseError {
  const code = Number(codeHeader ?? /\bCode: (\d+)\b/.exec(text)?.[1])
  const first = text.trim().split('\n', 1)[0] ?? ''
  if (Number.isInteger(code) && code > 0) return new ClickHouseError(first, { code, status })
  return new ClickHouseError(`HTTP ${status} from a server that is not ClickHouse`, { code: 0, status })
}

const UNSENT = new Set([
  'ConnectionRefused',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'FailedToOpenSocket',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** @param error from `fetch`. Its message can contain the address, so only its code is kept. */
export function toConnectionError(error: unknown): ClickHouseError {
  const { code, name } = error as { code?: unknown; name?: unknown }
  const reason = typeof code === 'string' ? code : String(name)
  const isUnsent = UNSENT.has(reason) || isTlsReason(reason)
  return new ClickHouseError(`ClickHouse does not answer (${reason})`, { reason, isUnsent })
}

/** @returns true if a connection failed because the server has no trusted certificate, or no TLS */
export const isTlsReason = (reason: string) =>
  reason === NO_TLS || /CERT|SSL|TLS|SIGNATURE|_CRL|ISSUER/i.test(reason)
/** The server does not speak TLS on this port. */
export const NO_TLS = 'EPROTO'
