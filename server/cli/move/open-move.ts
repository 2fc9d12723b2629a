// Opens the old and the new stores of a move, and checks that the new stores are empty or contain an earlier part of
// this move.

import { ensureNodeId } from '../../features/hits/spool/node-id.ts'
import { findFilledTable, openCopyTarget } from '../../storage/database/copy/copy-target.ts'
import {
  createMoveLog,
  MOVE_SCOPES,
  type MoveLog,
  type MoveScope,
} from '../../storage/database/copy/move-log.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import { type HitMoveTarget, openHitMoveTarget } from '../../storage/hits/clickhouse/move-target.ts'
import { tryToLockForMove } from '../../storage/lock.ts'
import { CommandError } from '../command.ts'
import type { MoveTargets } from './read-targets.ts'

export interface Move {
  dataDir: string
  /** The node of the data directory, which stays the same. */
  node: string
  /** The random name of the installation, which ClickHouse keeps too. */
  instance: string | undefined
  /** Undefined where the rows stay. */
  rows: Connection | undefined
  /** Undefined where the hits stay. */
  hits: HitMoveTarget | undefined
  log: MoveLog
  close(): Promise<void>
}

interface OpenNeeds {
  db: Database
  dataDir: string
  now: () => number
}

/** The first note, so that no other installation moves into the same stores. */
interface MoveBeginning {
  node: string
}

/** @throws CommandError for stores that have anything else in them */
export async function openMove({ db, dataDir, now }: OpenNeeds, targets: MoveTargets): Promise<Move> {
  const lock = tryToLockForMove(dataDir)
  if (!lock) throw new CommandError(`Another command moves ${dataDir} at this moment.`)
  const closers: (() => unknown)[] = [() => lock.release()]
  const close = async () => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne()
  }
  try {
    const node = await ensureNodeId(dataDir)
    const instance = (await db.read.selectFrom('instance').select('name').executeTakeFirst())?.name
    let rows: Connection | undefined
    if (targets.databaseUrl !== undefined) {
      const opened = await openCopyTarget(targets.databaseUrl)
      rows = opened
      closers.push(() => opened.destroy())
    }
    const hits = targets.clickHouseUrls && (await openHitMoveTarget(targets.clickHouseUrls, instance))
    if (hits) closers.push(() => hits.close())
    // Where the rows stay, their database keeps the progress.
    const openLog = (scope: MoveScope) =>
      createMoveLog(
        (body) => (rows ? rows.transaction().execute(body) : db.write((connection) => body(connection))),
        now,
        scope,
      )
    const scope = toScope(targets)
    for (const other of MOVE_SCOPES) if (other !== scope) await requireEnded(openLog(other), other)
    const move = { dataDir, node, instance, rows, hits, log: openLog(scope), close }
    await claimTargets(move)
    return move
  } catch (error) {
    await close()
    throw error
  }
}

const FLAGS: Record<MoveScope, string> = {
  all: '--to-database and --to-clickhouse',
  rows: '--to-database alone',
  hits: '--to-clickhouse alone',
}

const toScope = ({ databaseUrl, clickHouseUrls }: MoveTargets): MoveScope =>
  databaseUrl === undefined ? 'hits' : clickHouseUrls === undefined ? 'rows' : 'all'

async function requireEnded(log: MoveLog, scope: MoveScope): Promise<void> {
  if (!(await log.find('begin')) || (await log.find('end'))) return
  throw new CommandError(
    `This move was begun with ${FLAGS[scope]}. Give the same options to go on with it, or name empty databases.`,
  )
}

async function claimTargets({ node, rows, hits, log }: Move): Promise<void> {
  const begun = await log.find<MoveBeginning>('begin')
  if (begun && begun.node !== node)
    throw new CommandError(
      `The new database has the data of another installation (node ${begun.node}). Name an empty one.`,
    )
  if (begun) return
  if (rows) await requireEmptyRows(rows)
  if (hits && !(await hits.isEmpty()))
    throw new CommandError('The ClickHouse database has hits already. Name an empty database.')
  await log.note('begin', { node } satisfies MoveBeginning)
}

async function requireEmptyRows(rows: Connection): Promise<void> {
  const filled = await findFilledTable(rows)
  if (filled === undefined) return
  throw new CommandError(
    `The PostgreSQL database is not empty: the table ${filled} has rows. Name an empty database.`,
  )
}
