// Asks the running server for the findings that only it can make: it alone has the hit engine open.

import type { DoctorFinding } from '../../features/doctor/finding.ts'
import { createOperatorToken, toAnswerProof } from '../../features/doctor/operator-token.ts'
import { requestFromOperator } from '../../http/operator-request.ts'
import { parseJson } from '../../lib/formats/parse-json.ts'
import type { HitInspection } from '../../storage/hits/hit-engine.ts'

export interface ServerClient {
  listFindings(): Promise<DoctorFinding[]>
  /** Marks only. */
  inspect(): Promise<HitInspection>
}

interface ServerAddress {
  host?: string
  port: number
}

/** Longer than the checks may take there. */
const TIMEOUT_MS = 9_500

export function createServerClient(
  address: ServerAddress,
  secret: string | undefined,
  now: () => number,
): ServerClient {
  const origin = toOrigin(address)
  async function ask<T>(path: string): Promise<T> {
    if (secret === undefined) throw new Error('A server runs on DATA_DIR, and its secret cannot be read.')
    const token = createOperatorToken(secret, 'findings', now())
    const answer = await requestFromOperator({
      url: `${origin}/api/doctor/${path}`,
      headers: { authorization: `Bearer ${token}` },
      timeoutMs: TIMEOUT_MS,
    })
    if ('reason' in answer)
      throw new Error(`A server runs on DATA_DIR, and does not answer at ${origin} (${answer.reason}).`)
    const body = parseJson(answer.body) as (T & { proof?: string }) | undefined
    if (body?.proof === toAnswerProof(secret, token)) return body
    throw new Error(`Another server than the one on DATA_DIR answers at ${origin} (HTTP ${answer.status}).`)
  }
  return {
    listFindings: async () => (await ask<{ findings: DoctorFinding[] }>('findings')).findings,
    inspect: async () => (await ask<{ inspection: HitInspection }>('inspection')).inspection,
  }
}

/** Where the server listens, seen from this machine. */
function toOrigin({ host, port }: ServerAddress): string {
  const isEverywhere = host === undefined || host === '0.0.0.0' || host === '::'
  const name = isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
