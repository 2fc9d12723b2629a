// Follows the live stream of the workspace, and connects again when it ends. It keeps a bounded number of rows, so that a
// tab that is open for days does not grow.

import { useEffect, useState } from 'react'
import { followLive, type LiveClick, type LiveFigures, type LiveSubmission } from '../../api/live.ts'
import { useApi } from '../../shell/use-workspace.ts'

const KEPT = 100
const RECONNECT_MS = 3000

export type LiveItem = ({ kind: 'click' } & LiveClick) | ({ kind: 'submission' } & LiveSubmission)
/** Has its own key for the list. */
export type FeedItem = LiveItem & { key: number }

let lastKey = 0

export function useLive() {
  const api = useApi()
  const [figures, setFigures] = useState<LiveFigures>()
  const [feed, setFeed] = useState<FeedItem[]>([])
  const [isConnected, setConnected] = useState(false)
  useEffect(() => {
    const ending = new AbortController()
    const follow = async () => {
      while (!ending.signal.aborted) {
        // The stream begins with the items that it has shown before.
        let isFirst = true
        const on = {
          figures: (data: LiveFigures) => {
            setConnected(true)
            setFigures(data)
            setFeed((before) => before.filter(({ time }) => time >= data.start))
          },
          activity: ({ clicks, submissions }: { clicks: LiveClick[]; submissions: LiveSubmission[] }) => {
            const items = [
              ...clicks.map((click) => ({ kind: 'click' as const, ...click, key: ++lastKey })),
              ...submissions.map((each) => ({ kind: 'submission' as const, ...each, key: ++lastKey })),
            ].sort((a, b) => b.time.localeCompare(a.time))
            const startsOver = isFirst
            isFirst = false
            setFeed((before) => [...items, ...(startsOver ? [] : before)].slice(0, KEPT))
          },
        }
        await followLive(api, on, ending.signal).catch(() => {})
        if (ending.signal.aborted) return
        setConnected(false)
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
      }
    }
    void follow()
    return () => ending.abort()
  }, [api])
  return { figures, feed, isConnected }
}
