// The effects of a transaction's commit: its callbacks, and its changes for the caches of this process.

import { describeError, log } from '../../lib/log.ts'
import type { Change, CommitEffect } from './database.ts'

export type AnnounceChange = (change: Change) => void

/** The changes, each once. */
export function listChanges(effects: CommitEffect[]): Change[] {
  const changes = new Map<string, Change>()
  for (const effect of effects) if (typeof effect !== 'function') changes.set(toKey(effect), effect)
  return [...changes.values()]
}

const toKey = (change: Change) =>
  'workspaceId' in change ? `${change.workspaceId}` : `${change.domain}/${change.slugKey}`

/**
 * Runs the effects after the commit. An error in one is logged. It does not stop the others, and the rows are stored
 * anyway.
 */
export function runCommitEffects(effects: CommitEffect[], announce: AnnounceChange): void {
  for (const effect of effects) {
    try {
      if (typeof effect === 'function') effect()
      else announce(effect)
    } catch (error) {
      log.error('on_commit_failed', describeError(error))
    }
  }
}

/** Passes changes of this process to its listeners. */
export function createAnnouncer() {
  const listeners: AnnounceChange[] = []
  return {
    announce(change: Change) {
      for (const listener of listeners) listener(change)
    },
    watchChanges(listener: AnnounceChange) {
      listeners.push(listener)
    },
  }
}
