// Remembers which page views were recorded. The snippet reports a page view again where the answer did not reach the
// page, because it cannot know whether the request arrived. Such a page view counts once.

import { createGenerations } from '../../lib/generations.ts'
import { VISIT_ENDS_AFTER_MS } from './visit.ts'

export interface RecordedView {
  /** When the first report came. */
  at: number
  /** 0 where the spool was full. */
  hitId: number
}

/** Only this process remembers: after a restart, a page view that is reported again is counted again. */
export interface RecordedViews {
  find(key: string, at: number): RecordedView | undefined
  add(key: string, view: RecordedView): void
}

/** The workspace is a part of the key: what one site reports says nothing about the visits of another. */
export const toRecordedViewKey = (workspaceId: number, viewId: string) => `${workspaceId} ${viewId}`

/** An entry takes about 150 bytes. The next page comes within seconds, so that most entries are of no use any more. */
const VIEWS_MAX = 40_000

export function createRecordedViews(): RecordedViews {
  const views = createGenerations<RecordedView>({ entriesMax: VIEWS_MAX / 2 })
  return {
    find(key, at) {
      const view = views.get(key)
      return view && at - view.at < VISIT_ENDS_AFTER_MS ? view : undefined
    },
    // The key is a text of its own: it keeps no request in memory.
    add: (key, view) => views.set(key, view),
  }
}
