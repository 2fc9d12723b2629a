// The person's sessions: where they are signed in, and an end to it.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { endOtherSessions, endSession, sessionsQuery } from '../../../api/account.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatDay } from '../../../ui/format.ts'
import { toast } from '../../../ui/overlays/toast.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'

export function SessionList() {
  const client = useQueryClient()
  const sessions = useQuery(sessionsQuery)
  const refresh = () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
  const end = useMutation({ mutationFn: endSession, onSettled: refresh })
  const endOthers = useMutation({
    mutationFn: endOtherSessions,
    onSuccess: () => toast('Your other sessions are signed out'),
    onSettled: refresh,
  })
  const list = sessions.data ?? []
  return (
    <Card
      title="Sessions"
      actions={
        list.length > 1 && (
          <Button size="small" busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            Sign out other sessions
          </Button>
        )
      }
    >
      {sessions.isPending && <SkeletonRows rows={2} className="h-12" />}
      {sessions.isError && <ErrorState error={sessions.error} retry={sessions.refetch} />}
      <ul className="-my-3 divide-y divide-line">
        {list.map((session) => {
          const isCurrent = session.current
          return (
            <li key={session.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              <div className="min-w-0 flex-1 basis-44">
                <p className="truncate font-medium">
                  {session.browser} {isCurrent && <Badge tone="good">This device</Badge>}
                </p>
                <p className="text-sm text-soft">
                  Signed in {formatDay(session.createdAt)}, active <RelativeTime at={session.lastUsedAt} />
                </p>
              </div>
              {!isCurrent && (
                <Button size="small" busy={end.isPending} onClick={() => end.mutate(session.id)}>
                  Sign out
                </Button>
              )}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
