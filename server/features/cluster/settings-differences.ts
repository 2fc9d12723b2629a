// Warns when nodes of one installation have different settings: a form or a link would then depend on the node.

import { sql } from 'kysely'
import { log } from '../../lib/log.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import { DATABASE_CLOCK } from './database-clock.ts'
import type { NodeFacts, SharedSettings } from './node-row.ts'

export async function warnOfDifferences(
  connection: Connection,
  { node, settings }: NodeFacts,
  silentMs: number,
): Promise<void> {
  const { rows } = await sql<{ node: string; settings: string }>`select node, settings from nodes
    where node <> ${node} and left_at is null and seen_at > ${DATABASE_CLOCK} - ${silentMs}::bigint
    order by node`.execute(connection)
  for (const other of rows) {
    for (const setting of listDifferences(settings, JSON.parse(other.settings))) {
      const [here, there] = [settings[setting], JSON.parse(other.settings)[setting]]
      log.warn('settings_differ', { setting, here, there, otherNode: other.node })
    }
  }
}

/** Another release may not know a setting. That is no difference. */
const listDifferences = (here: SharedSettings, there: SharedSettings): string[] =>
  Object.keys(here).filter((setting) => setting in there && here[setting] !== there[setting])
