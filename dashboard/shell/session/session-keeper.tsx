// Keeps the page when a session ends: shows the sign-in dialog, or a notice where the person has closed it. Both are
// loaded when they are first needed.

import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { findUser, type User, userQuery } from '../../api/session.ts'
import { type SessionCheck, type SessionState, setSessionWatcher } from '../../api/session-gate.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'

const SignInDialog = lazyPart(() => import('./sign-in-dialog.tsx'), 'SignInDialog')
const SignedOutNotice = lazyPart(() => import('./page-notice.tsx'), 'SignedOutNotice')
const WorkspaceGoneNotice = lazyPart(() => import('./page-notice.tsx'), 'WorkspaceGoneNotice')

export function SessionKeeper() {
  const client = useQueryClient()
  const [state, show] = useState<SessionState>('signedIn')
  useEffect(() => {
    setSessionWatcher({
      isKnown: () => Boolean(client.getQueryData(userQuery.queryKey)),
      isStillSignedIn: async () => (await checkSession(client)) === 'same',
      untilQuiet,
      show,
      showWorkspaceGone: (id) => client.setQueryData(toWorkspaceGoneKey(id), true),
    })
  }, [client])
  if (state === 'signedIn') return null
  return (
    <>
      {state === 'asking' && (
        <SignInDialog person={getKnownUser(client)} checkSession={() => checkSession(client)} />
      )}
      {state === 'declined' && <SignedOutNotice />}
    </>
  )
}

const toWorkspaceGoneKey = (workspaceId: number) => ['workspace-gone', workspaceId]

/** The notice over a page whose workspace the person has lost. The page stays. */
export function WorkspaceGone({ workspaceId }: { workspaceId: number }) {
  const { data } = useQuery({ queryKey: toWorkspaceGoneKey(workspaceId), queryFn: skipToken })
  return data === true && <WorkspaceGoneNotice />
}

const getKnownUser = (client: QueryClient): User | undefined =>
  client.getQueryData(userQuery.queryKey) ?? undefined

let check: Promise<SessionCheck> | undefined

/** Concurrent requests share one answer. */
function checkSession(client: QueryClient): Promise<SessionCheck> {
  check ??= findUser()
    .then((user) => (!user ? 'none' : user.id === getKnownUser(client)?.id ? 'same' : 'other'))
    .catch((): SessionCheck => 'none')
    .finally(() => {
      check = undefined
    })
  return check
}

/** The dialog waits this long after a keystroke, or it would catch the next one. */
const TYPING_MS = 1500
let lastInput = Number.NEGATIVE_INFINITY
addEventListener('input', () => (lastInput = performance.now()), { capture: true, passive: true })

async function untilQuiet() {
  for (;;) {
    const left = lastInput + TYPING_MS - performance.now()
    if (left <= 0) return
    await new Promise((resolve) => setTimeout(resolve, left))
  }
}
