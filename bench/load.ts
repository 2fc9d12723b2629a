// Puts load on a server with wrk (Debian's package `wrk`), and reads the result.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pinToCore } from './servers.ts'

export interface LoadResult {
  perSecond: number
  p50Ms: number
  p99Ms: number
  failed: number
}

export const USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

/** Requests with a phone's headers, each to the next of `slugs` slugs. */
export const redirectScript = (slugs: number) => `
wrk.headers["User-Agent"] = "${USER_AGENT}"
wrk.headers["Referer"] = "https://www.instagram.com/"
wrk.headers["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
wrk.headers["Accept-Language"] = "en-GB,en;q=0.9"
local n = 0
request = function()
  n = n % ${slugs} + 1
  return wrk.format("GET", "/bench" .. n)
end
`

const REPORT = `
done = function(summary, latency)
  local bad = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format("RESULT %f %f %f %d\\n", summary.requests / summary.duration * 1000000,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, bad))
end
`

export function requireWrk(): void {
  if (!Bun.which('wrk')) throw new Error('The load generator wrk is missing. On Debian: apt-get install wrk')
}

/** @param options.script Lua code that makes the requests */
export async function load(
  port: number,
  { connections = 32, seconds = 2, script = redirectScript(999) } = {},
): Promise<LoadResult> {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-load-'))
  const file = join(dir, 'load.lua')
  writeFileSync(file, script + REPORT)
  const command = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', file, `http://127.0.0.1:${port}`]
  const output = await new Response(Bun.spawn(pinToCore(1, command)).stdout).text()
  rmSync(dir, { recursive: true, force: true })
  const [, perSecond, p50Ms, p99Ms, failed] = /RESULT (\S+) (\S+) (\S+) (\d+)/.exec(output)?.map(Number) ?? []
  if (!perSecond || p50Ms === undefined || p99Ms === undefined) throw new Error(`wrk said:\n${output}`)
  return { perSecond, p50Ms, p99Ms, failed: failed ?? 0 }
}
