// Warns when nodes of one installation have different settings: a form or a link would then depend on the node.

import { log } from '../../lib/log.ts'
import type { Nodes } from '../../storage/database/tables/cluster-tables.ts'
import type { NodeFacts, SharedSettings } from './node-row.ts'

export function warnOfDifferences({ node, settings }: NodeFacts, live: Nodes[]): void {
  for (const other of live.filter((row) => row.node !== node)) {
    const theirs: SharedSettings = JSON.parse(other.settings)
    for (const setting of listDifferences(settings, theirs)) {
      const [here, there] = [settings[setting], theirs[setting]]
      log.warn('settings_differ', { setting, here, there, otherNode: other.node })
    }
  }
}

/** Another release may not know a setting. That is no difference. */
const listDifferences = (here: SharedSettings, there: SharedSettings): string[] =>
  Object.keys(here).filter((setting) => setting in there && here[setting] !== there[setting])
