// A client of ClickHouse's HTTP interface (https://clickhouse.com/docs/interfaces/http).

import type { SqlValue } from '../../filter-sql.ts'
import { type ClickHouseAddress, parseClickHouseAddress } from './address.ts'
import { ClickHouseError, toConnectionError, toServerError } from './clickhouse-error.ts'
import { toFields } from './parameters.ts'
import { createReplicaChoice } from './replica-choice.ts'

export interface ClickHouseCall {
  /** The values of the placeholders `{p1:…}`, `{p2:…}` (`toPlaceholder`). */
  params?: SqlValue[]
  /** Settings of this statement. */
  settings?: Record<string, string | number>
  /** By default a minute. */
  timeoutMs?: number
  signal?: AbortSignal
}

/**
 * Every call goes to the first server that answers and has no replication delay. If that server is unavailable, the call is
 * repeated at the next one, unless it is an insert that may have been stored.
 * All methods throw `ClickHouseError`.
 */
export interface ClickHouseClient {
  /** @returns the rows as lists of cells. Numbers of 64 bits come as text. */
  select(sql: string, call?: ClickHouseCall): Promise<unknown[][]>
  /** Reads an answer of any size. A reader that stops early ends the statement. */
  stream(sql: string, format: string, call?: ClickHouseCall): Promise<ReadableStream<Uint8Array>>
  /** Runs a statement without an answer. It must be safe to run twice. Its settings are part of its text. */
  execute(sql: string, call?: ClickHouseCall): Promise<void>
  /** @param data compressed by zstd. After a failure it can be unknown whether the data was stored. */
  insert(sql: string, data: Uint8Array, call?: ClickHouseCall): Promise<void>
  /** Aborts all running calls. */
  close(): Promise<void>
}

const TIMEOUT_MS = 60_000
/** Longer values are sent in the body: a server refuses an address of more than 1 MiB, and proxies refuse shorter ones. */
const FIELDS_IN_ADDRESS_MAX = 2000

/** The server answers after the whole statement, so an error has its status. It stops when the client disconnects. */
const READ_SETTINGS = {
  wait_end_of_query: 1,
  output_format_json_quote_64bit_integers: 1,
  cancel_http_readonly_queries_on_client_close: 1,
}

/**
 * @param urls at least one valid address
 * @param choiceMs how long the client uses a server before it checks whether an earlier one is back
 */
export function createClickHouseClient(urls: string[], choiceMs?: number): ClickHouseClient {
  const closing = new AbortController()
  const read = (address: ClickHouseAddress, sql: string, format: string, call: ClickHouseCall = {}) => {
    const settings = { ...READ_SETTINGS, default_format: format, ...call.settings }
    return send(address, { ...call, sql, settings }, closing.signal)
  }
  const select = async (address: ClickHouseAddress, sql: string, call?: ClickHouseCall) =>
    readRows(await read(address, sql, 'JSONCompactEachRow', call))
  const change = async (address: ClickHouseAddress, request: ClickHouseRequest) => {
    await readText(await send(address, request, closing.signal))
  }
  const choice = createReplicaChoice(urls.map(parseClickHouseAddress), select, choiceMs)
  return {
    select: (sql, call) => choice.run((address) => select(address, sql, call), true),
    stream: (sql, format, call = {}) => {
      const settings = { wait_end_of_query: 0, ...call.settings }
      const open = async (address: ClickHouseAddress) =>
        (await read(address, sql, format, { ...call, settings })).body ?? new Blob([]).stream()
      return choice.run(open, true)
    },
    execute: (sql, call) => choice.run((address) => change(address, { ...call, sql }), true),
    insert: (sql, data, call) => choice.run((address) => change(address, { ...call, sql, data }), false),
    async close() {
      closing.abort()
    },
  }
}

interface ClickHouseRequest extends ClickHouseCall {
  sql: string
  data?: Uint8Array
}

/** @returns the answer, after its status has shown no error */
async function send(
  { origin, headers }: ClickHouseAddress,
  { sql, data, params = [], settings = {}, timeoutMs = TIMEOUT_MS, signal }: ClickHouseRequest,
  closing: AbortSignal,
): Promise<Response> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(settings)) query.set(name, String(value))
  const fields = toFields(params).map(([name, text]): [string, string] => [`param_${name}`, text])
  const fieldQuery = new URLSearchParams(fields)
  const body = toBody(sql, fields, data, String(fieldQuery).length > FIELDS_IN_ADDRESS_MAX)
  if (!(body instanceof FormData)) for (const [name, text] of fieldQuery) query.append(name, text)
  if (data) query.set('query', sql)
  let response: Response
  try {
    response = await fetch(`${origin}/?${query}`, {
      method: 'POST',
      headers: data ? { ...headers, 'Content-Encoding': 'zstd' } : headers,
      body,
      // A redirect would send the password to another server.
      redirect: 'manual',
      signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    })
  } catch (error) {
    throw toConnectionError(error)
  }
  if (response.ok) return response
  throw toServerError(response.status, response.headers.get(CODE_HEADER), await readText(response))
}

const CODE_HEADER = 'X-ClickHouse-Exception-Code'

/** The body: the data of an insert, else long values of a statement, else the statement. */
function toBody(
  sql: string,
  fields: [name: string, text: string][],
  data: Uint8Array | undefined,
  areFieldsLong: boolean,
) {
  if (data) return data
  if (!areFieldsLong) return sql
  const form = new FormData()
  form.set('query', sql)
  for (const [name, text] of fields) form.set(name, text)
  return form
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw toConnectionError(error)
  }
}

async function readRows(response: Response): Promise<unknown[][]> {
  const lines = (await readText(response)).split('\n')
  try {
    return lines.filter(Boolean).map((line) => JSON.parse(line))
  } catch (cause) {
    throw new ClickHouseError('The server does not answer as ClickHouse does', { code: 0, cause })
  }
}
