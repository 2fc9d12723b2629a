// A ClickHouse server for tests: the HTTP interface (https://clickhouse.com/docs/interfaces/http) over ClickHouse as a
// library, as far as the product uses it. Arguments: the library, the directory of the data, the port, user, password.

import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'

type Connection = { readonly brand: unique symbol }
interface Library {
  CreateConnection(path: string, args: string[]): Connection
  QueryWithConnection(connection: Connection, sql: string, format: string): string
  QueryAsyncConnection(
    connection: Connection,
    sql: string,
    format: string,
    parameters?: Record<string, string>,
  ): Promise<{ buffer?: Uint8Array; bytes?: Uint8Array }>
}

const [library = '', dataDir = '', port = '', user = '', password = ''] = process.argv.slice(2)
const chdb = createRequire(import.meta.url)(library) as Library

/** Names in a request's address that are no settings of the query. */
const OWN = new Set([
  'query',
  'database',
  'query_id',
  'default_format',
  'user',
  'password',
  'session_id',
  'wait_end_of_query',
])
const CONNECTIONS_MAX = 8

interface PooledConnection {
  connection: Connection
  database: string
}
const idle: PooledConnection[] = []
const waiting: ((pooled: PooledConnection) => void)[] = []
let opened = 0

async function takeConnection(): Promise<PooledConnection> {
  const pooled = idle.pop()
  if (pooled) return pooled
  if (opened === CONNECTIONS_MAX) return new Promise((resolve) => waiting.push(resolve))
  opened++
  return { connection: chdb.CreateConnection(dataDir, ['--async_load_databases=0']), database: 'default' }
}

function returnConnection(pooled: PooledConnection) {
  const next = waiting.shift()
  if (next) next(pooled)
  else idle.push(pooled)
}

/** A fault that a test injects: after the next query with this text, the connection ends without an answer. */
let cutAfter: string | undefined
let files = 0

interface QueryRequest {
  sql: string
  data: Buffer
  settings: [string, string][]
  parameters: Record<string, string>
  format: string
  database: string
}

async function readRequest(request: IncomingMessage, url: URL): Promise<QueryRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const fields = new URLSearchParams(url.search)
  let body = decompress(Buffer.concat(chunks), request.headers['content-encoding'])
  if (request.headers['content-type']?.startsWith('multipart/form-data')) {
    const form = await new Response(body, {
      headers: { 'Content-Type': request.headers['content-type'] },
    }).formData()
    for (const [name, value] of form) fields.set(name, String(value))
    body = Buffer.alloc(0)
  }
  const sql = fields.get('query') ?? ''
  const all = [...fields]
  return {
    // As on a real server, the body goes on where the query in the address ends.
    sql: sql === '' ? body.toString() : sql,
    data: sql === '' ? Buffer.alloc(0) : body,
    settings: all.filter(([name]) => !OWN.has(name) && !name.startsWith('param_')),
    parameters: Object.fromEntries(
      all
        .filter(([name]) => name.startsWith('param_'))
        .map(([name, value]) => [name.slice('param_'.length), value]),
    ),
    format: fields.get('default_format') ?? String(request.headers['x-clickhouse-format'] ?? 'TabSeparated'),
    database: fields.get('database') ?? String(request.headers['x-clickhouse-database'] ?? 'default'),
  }
}

function decompress(body: Buffer, coding: string | undefined): Buffer {
  if (coding === 'zstd') return zstdDecompressSync(body)
  return coding === 'gzip' ? gunzipSync(body) : body
}

async function runQuery({
  sql,
  data,
  settings,
  parameters,
  format,
  database,
}: QueryRequest): Promise<Uint8Array> {
  const pooled = await takeConnection()
  const paths: string[] = []
  const run = async (text: string, outputFormat: string) => {
    const result = await chdb.QueryAsyncConnection(pooled.connection, text, outputFormat, parameters)
    return result.buffer ?? result.bytes ?? new Uint8Array()
  }
  // The library reads no data after a query, so the data become a file.
  const toFile = () => {
    const path = join(dataDir, `upload-${++files}`)
    paths.push(path)
    writeFileSync(path, data)
    return path
  }
  try {
    if (pooled.database !== database) {
      await run(`USE \`${database}\``, 'TabSeparated')
      pooled.database = database
    }
    const clause = settings.map(([name, value]) => `${name} = '${value.replaceAll("'", "\\'")}'`).join(', ')
    const insert = /^\s*INSERT\s/i.test(sql)
    const input = /FROM\s+input\('([\s\S]*?)'\)([\s\S]*?)\s+FORMAT\s+(\w+)\s*$/i.exec(sql)
    if (insert && input) {
      const [found, structure, rest, inputFormat] = input
      const file = `FROM file('${toFile()}', '${inputFormat}', '${structure}')${rest}`
      const text = sql.replace(found, () => file)
      return await run(
        clause ? text.replace(/\bSELECT\b/i, `SETTINGS ${clause} SELECT`) : text,
        'TabSeparated',
      )
    }
    const rows = insert && data.length > 0 && /^([\s\S]*?)\s+FORMAT\s+(\w+)\s*$/i.exec(sql)
    if (rows) {
      const head = clause ? `${rows[1]} SETTINGS ${clause}` : rows[1]
      return await run(`${head} SELECT * FROM file('${toFile()}', '${rows[2]}')`, 'TabSeparated')
    }
    const named = /\bFORMAT\s+(\w+)\s*;?\s*$/i.exec(sql)
    const text = sql.replace(/\bFORMAT\s+\w+\s*;?\s*$/i, '')
    const readsOnly = /^\s*\(?\s*(SELECT|WITH)\b/i.test(sql)
    return await run(clause && readsOnly ? `${text} SETTINGS ${clause}` : text, named?.[1] ?? format)
  } finally {
    for (const path of paths) rmSync(path, { force: true })
    returnConnection(pooled)
  }
}

/** The HTTP status of an error, as ClickHouse's `exceptionCodeToHTTPStatus` chooses it for the codes that we meet. */
const STATUS_OF_CODE: Record<string, number> = {
  516: 403,
  497: 403,
  81: 404,
  60: 404,
  62: 400,
  47: 400,
  241: 500,
}

function fail(response: ServerResponse, code: string, text: string) {
  response.writeHead(STATUS_OF_CODE[code] ?? 500, { 'X-ClickHouse-Exception-Code': code })
  response.end(text)
}

function isAllowed(request: IncomingMessage, url: URL): boolean {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  const [name, ...rest] = basic ? Buffer.from(basic, 'base64').toString().split(':') : []
  const given = {
    user: name ?? request.headers['x-clickhouse-user'] ?? url.searchParams.get('user') ?? 'default',
    password: basic
      ? rest.join(':')
      : (request.headers['x-clickhouse-key'] ?? url.searchParams.get('password') ?? ''),
  }
  return given.user === user && given.password === password
}

async function answer(request: IncomingMessage, response: ServerResponse) {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname === '/ping') return response.end('Ok.\n')
  if (url.pathname === '/test/cut-answer') {
    cutAfter = url.searchParams.get('after') ?? undefined
    return response.end()
  }
  if (!isAllowed(request, url))
    return fail(
      response,
      '516',
      `Code: 516. DB::Exception: ${user}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)\n`,
    )
  const query = await readRequest(request, url)
  try {
    const bytes = await runQuery(query)
    if (cutAfter !== undefined && query.sql.includes(cutAfter)) {
      cutAfter = undefined
      return request.socket.destroy()
    }
    response.writeHead(200, {
      'X-ClickHouse-Query-Id': url.searchParams.get('query_id') ?? randomUUID(),
      'X-ClickHouse-Format': query.format,
      'Content-Type': 'text/plain; charset=UTF-8',
    })
    response.end(bytes)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    fail(response, /Code: (\d+)/.exec(message)?.[1] ?? '1001', message)
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    process.stderr.write(`${error}\n`)
    request.socket.destroy()
  })
})
// Opens the data before the first request comes.
returnConnection(await takeConnection())
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))
