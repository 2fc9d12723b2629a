// Notifies the other tabs of the dashboard of a sign-in.

export const SESSION_CHANNEL = 'towpath.session'

/** The page that says so. An identity provider leads there. */
export const SIGNED_IN_PATH = '/app/signed-in'

export function announceSignIn() {
  const channel = new BroadcastChannel(SESSION_CHANNEL)
  channel.postMessage('signed in')
  channel.close()
}
