// Holds requests back when a session has ended, until the person has signed in again (docs/contract.md §16). Nothing that
// was typed is lost: the page stays, and the requests are sent then.

/** `declined`: the person has closed the sign-in dialog without signing in. */
export type SessionState = 'signedIn' | 'asking' | 'declined'

/** Who is signed in: the person who opened the page, another person, or nobody. */
export type SessionCheck = 'same' | 'other' | 'none'

export interface SessionWatcher {
  /** Whether the page believes that a person is signed in. It asks only that person to sign in again. */
  isKnown(): boolean
  /** Shows what belongs to the state: the sign-in dialog, a notice, or nothing. */
  show(state: SessionState): void
  /** Whether the same person is signed in after all: in another tab, or since the request was sent. */
  isStillSignedIn(): Promise<boolean>
  /** Resolves when the dialog disturbs nobody who is typing. */
  untilQuiet(): Promise<void>
  /** The workspace was deleted, or the person was removed from it. */
  showWorkspaceGone(workspaceId: number): void
}

let watcher: SessionWatcher | undefined
let state: SessionState = 'signedIn'
/** Counts the ended sessions of this window. */
let endings = 0
let signedIn = Promise.withResolvers<void>()
let answer = Promise.withResolvers<boolean>()
/** The person signs out, so a refusal is no surprise. */
let isLeaving = false

/** The component that shows the dialog announces itself here, because the API files know no components. */
export function setSessionWatcher(next: SessionWatcher) {
  watcher = next
}

export const isSessionHeld = () => state !== 'signedIn'
export const countSessionEndings = () => endings

/** @returns undoes it, for a sign-out that has failed */
export function leaveSession() {
  isLeaving = true
  return () => {
    isLeaving = false
  }
}

function set(next: SessionState) {
  state = next
  watcher?.show(next)
}

/** Opens the sign-in dialog. */
export function askToSignIn() {
  if (state === 'signedIn') endings += 1
  if (state !== 'asking') answer = Promise.withResolvers()
  set('asking')
}

/** The person's choice in the dialog. */
export function answerSignIn(isSignedIn: boolean) {
  set(isSignedIn ? 'signedIn' : 'declined')
  answer.resolve(isSignedIn)
  if (!isSignedIn) return
  signedIn.resolve()
  signedIn = Promise.withResolvers()
}

/**
 * Waits until the person has signed in again. What the page asks for by itself waits without an end, so that polling
 * stops and no page turns into an error. What the person does opens the dialog.
 * @returns false when the person closes the dialog, and where nobody was signed in
 */
export async function waitForSignIn(isBackground: boolean, signal?: AbortSignal): Promise<boolean> {
  if (!watcher?.isKnown() || isLeaving) return false
  if (state === 'signedIn') {
    const before = endings
    if (await watcher.isStillSignedIn()) return true
    if (isBackground) await watcher.untilQuiet()
    // Another request may have asked meanwhile, and the person may have signed in.
    if (before === endings) askToSignIn()
    else if (!isSessionHeld()) return true
  }
  if (!isBackground) {
    if (state !== 'asking') askToSignIn()
    return answer.promise
  }
  await Promise.race([signedIn.promise, whenAborted(signal)])
  return true
}

const whenAborted = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => {
    if (signal?.aborted) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

export const announceWorkspaceGone = (workspaceId: number) => watcher?.showWorkspaceGone(workspaceId)
