// Puts load on a server with wrk (Debian's package `wrk`), and reads the result.

import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readProcessorMs } from './harness.ts'
import { type Contender, pinToCore } from './servers.ts'

export interface LoadResult {
  perSecond: number
  p50Ms: number
  p99Ms: number
  failed: number
  /** Processor time of the server for each request, in microseconds. */
  processorUs: number
}

export const USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

/** Requests with a phone's headers, each to the next of `slugs` slugs. */
export const redirectScript = (slugs = 999, prefix = 'bench') => `
wrk.headers["User-Agent"] = "${USER_AGENT}"
wrk.headers["Referer"] = "https://www.instagram.com/"
wrk.headers["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
wrk.headers["Accept-Language"] = "en-GB,en;q=0.9"
local n = 0
request = function()
  n = n % ${slugs} + 1
  return wrk.format("GET", "/${prefix}" .. n)
end
`

/** POST requests, each from another address, because an address has limits. @param body Lua that makes it of `n` */
export const postScript = (path: string, headers: Record<string, string>, body: string, first: number) => `
wrk.headers["User-Agent"] = "${USER_AGENT}"
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
  .join('\n')}
local n = ${first}
request = function()
  n = n + 1
  wrk.headers["X-Forwarded-For"] = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  return wrk.format("POST", "${path}", nil, ${body})
end
`

const REPORT = `
done = function(summary, latency)
  local bad = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format("RESULT %f %f %f %d\\n", summary.requests / summary.duration * 1000000,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, bad))
end
`

/** @param options.script Lua code that makes the requests */
export async function load(
  { port, pid }: Pick<Contender, 'port' | 'pid'>,
  { connections = 32, seconds = 2, script = redirectScript() } = {},
): Promise<LoadResult> {
  if (!Bun.which('wrk')) throw new Error('The load generator wrk is missing. On Debian: apt-get install wrk')
  const file = join(tmpdir(), `towpath-load-${process.pid}-${crypto.randomUUID()}.lua`)
  writeFileSync(file, script + REPORT)
  const command = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', file, `http://127.0.0.1:${port}`]
  const before = readProcessorMs(pid)
  const output = await new Response(Bun.spawn(pinToCore(1, command)).stdout).text()
  const processorMs = readProcessorMs(pid) - before
  rmSync(file)
  const [, perSecond, p50Ms, p99Ms, failed] = /RESULT (\S+) (\S+) (\S+) (\d+)/.exec(output)?.map(Number) ?? []
  if (!perSecond || p50Ms === undefined || p99Ms === undefined) throw new Error(`wrk said:\n${output}`)
  const processorUs = (processorMs * 1000) / (perSecond * seconds)
  return { perSecond, p50Ms, p99Ms, failed: failed ?? 0, processorUs }
}
