// Runs `towpath verify`: recomputes the closed days of a workspace, with or without a running server.

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { getOperatorActor } from '../../features/links/domains/operator-actor.ts'
import { appendProofs, type ProofContent } from '../../features/proofs/proof-chain.ts'
import { type Verification, verifyChain } from '../../features/proofs/verify-chain.ts'
import { toWorkerConfig } from '../../workers/run-workers.ts'
import { parseIdArgument } from '../arguments.ts'
import { CommandError, type CommandNeeds } from '../command.ts'
import { openHitReader } from '../open-hit-reader.ts'

const REASON_MAX = 200

/** @throws Failure `not_found` for an unknown workspace, and CommandError that names the first day that differs */
export async function runVerify(
  needs: CommandNeeds,
  id: string | undefined,
  reason: string | undefined,
): Promise<string> {
  const workspaceId = parseIdArgument(id, 'The workspace')
  if (reason !== undefined && (reason.trim() === '' || reason.length > REASON_MAX))
    throw new CommandError(`--reason must be 1 to ${REASON_MAX} characters.`)
  await getOperatorActor(needs, { workspaceId })
  const found = await verify(needs, workspaceId, reason !== undefined)
  const [first] = found.differences
  if (!first) return describe(found)
  if (reason === undefined || first.now === undefined)
    throw new CommandError(`${first.day} differs: ${first.what}.`)
  const contents = found.differences.flatMap(({ day, now }): ProofContent[] =>
    now ? [{ day, kind: 'changed', reason: `operator: ${reason}`, removed: null, ...now }] : [],
  )
  await appendProofs(needs.db, workspaceId, contents, needs.now())
  return `${contents.length === 1 ? '1 changed day is' : `${contents.length} changed days are`} recorded: ${contents.map(({ day }) => day).join(', ')}`
}

async function verify({ db, config }: CommandNeeds, workspaceId: number, findsAll: boolean) {
  const own = config.workers > 1 ? toWorkerConfig(config, 1) : config
  const scratchDir = await mkdtemp(join(own.dataDir, 'verify-command-'))
  try {
    const { hits, close } = await openHitReader(own, scratchDir, new AbortController().signal)
    try {
      return await verifyChain({ read: db.read, hits }, workspaceId, findsAll)
    } finally {
      await close()
    }
  } finally {
    await rm(scratchDir, { recursive: true, force: true })
  }
}

function describe({ entries, days, lastHash }: Verification): string {
  if (lastHash === null) return 'No day is closed yet: a day closes six hours after its end (UTC).'
  return `No closed day has changed. Days: ${days}, entries: ${entries}, last hash: ${lastHash}`
}
