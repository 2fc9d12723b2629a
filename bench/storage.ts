// bun bench/storage.ts [another checkout]: what strangers make a server write and remember. 15 s of clicks with long
// parameters, and then 15 s of long slugs that no link has: bytes written, bytes in DATA_DIR, resident memory. With
// another checkout, the same for that version.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { DatabaseHandle } from '../server/storage/database/open-database.ts'
import { listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'
import { load, requireWrk, USER_AGENT } from './load.ts'
import { readResidentMemory } from './resident-memory.ts'
import { type Contender, seedLinks, startTowpath } from './servers.ts'

const SECONDS = 15
const LINKS = 1000

/** Every text at the length that a version before budgets recorded, and no text twice. */
const LONG_CLICKS = `
math.randomseed(7)
local n = 0
local function text(length)
  local parts = {}
  for i = 1, length / 8 do parts[i] = string.format("%08x", math.random(0, 2147483647)) end
  return table.concat(parts)
end
local filler = text(2400)
request = function()
  n = n % ${LINKS - 1} + 1
  local at = math.random(1, 380)
  local own = text(24)
  return wrk.format("GET", "/bench" .. n .. "?utm_source=" .. own .. filler:sub(at, at + 2000), {
    ["User-Agent"] = "${USER_AGENT} " .. filler:sub(at, at + 350),
    ["Referer"] = "https://" .. own .. ".example/" .. filler:sub(at, at + 1950)
  })
end
`

/** Slugs of 180 characters behind a query of 1 kB, no slug twice. */
const UNKNOWN_SLUGS = `
wrk.headers["User-Agent"] = "${USER_AGENT}"
local n = 0
local tail = string.rep("a", 170)
local query = string.rep("q", 1000)
request = function()
  n = n + 1
  return wrk.format("GET", "/" .. string.format("%010d", n) .. tail .. "?" .. query)
end
`

const dataDirs: string[] = []

interface Server extends Contender {
  dataDir: string
}

/** @param checkout migrates the data directory itself: an earlier version refuses what a later one has made */
async function start(name: string, checkout: string): Promise<Server> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-storage-'))
  dataDirs.push(dataDir)
  const { openDatabase } = await import(join(checkout, 'server/storage/database/open-database.ts'))
  const db: DatabaseHandle = await openDatabase({ dataDir })
  await seedLinks(db, LINKS)
  await db.close()
  return { ...(await startTowpath({ DATA_DIR: dataDir }, { name, checkout })), dataDir }
}

/** The bytes that a process has made the kernel write (Linux: proc_pid_io(5)). */
function writtenBytes(pid: number): number {
  try {
    return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function sizeOf(path: string): number {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) =>
        sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
}

async function measure(what: string, server: Server, script: string): Promise<string> {
  const pids = () => [server.pid, ...listWorkerProcesses(server.pid)]
  const written = new Map<number, number>()
  const note = () => {
    for (const pid of pids()) written.set(pid, Math.max(written.get(pid) ?? 0, writtenBytes(pid)))
  }
  const sum = () => [...written.values()].reduce((total, bytes) => total + bytes, 0)
  note()
  const before = {
    written: sum(),
    disk: sizeOf(server.dataDir),
    memory: readResidentMemory(server.pid).server,
  }
  const timer = setInterval(note, 200)
  const result = await load(server.port, { seconds: SECONDS, script })
  // The worker has loaded everything when its processor time stands still.
  await Bun.sleep(6000)
  clearInterval(timer)
  note()
  const requests = result.perSecond * SECONDS
  const bytes = sum() - before.written
  const cells = [
    server.name,
    what,
    Math.round(requests).toLocaleString('en-US'),
    (bytes / 1e6).toFixed(0),
    Math.round(bytes / requests).toLocaleString('en-US'),
    ((sizeOf(server.dataDir) - before.disk) / 1e6).toFixed(0),
    before.memory.toFixed(0),
    readResidentMemory(server.pid).server.toFixed(0),
  ]
  return `| ${cells.join(' | ')} |`
}

requireWrk()
const checkouts = [join(import.meta.dir, '..'), ...process.argv.slice(2, 3)]
const attacks = { 'long clicks': LONG_CLICKS, 'unknown slugs': UNKNOWN_SLUGS }
const lines: string[] = []
try {
  for (const [i, checkout] of checkouts.entries()) {
    for (const [what, script] of Object.entries(attacks)) {
      const server = await start(i === 0 ? 'towpath' : 'the other checkout', resolve(checkout))
      lines.push(await measure(what, server, script))
      await server.end()
    }
  }
  process.stdout.write(
    [
      '| server | strangers send | requests | MB written | bytes a request | MB more in DATA_DIR | MB before | MB after |',
      '|---|---|---|---|---|---|---|---|',
      ...lines,
      '',
    ].join('\n'),
  )
} finally {
  for (const dir of dataDirs) rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
