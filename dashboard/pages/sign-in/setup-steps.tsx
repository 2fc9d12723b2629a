// First steps for the operator of a server that has no account yet.

import { CenteredPage } from './centered-page.tsx'

export const SetupSteps = () => (
  <ol className="grid list-decimal gap-2 pl-5 text-sm text-soft">
    <li>Look at what the server printed when it started. The last line is an address.</li>
    <li>Open that address. It ends with a long token.</li>
    <li>A restart prints the same address again.</li>
  </ol>
)

/** For every visitor of a server that is not set up. */
export const SetupNeeded = () => (
  <CenteredPage
    title="This server isn’t set up yet"
    description="Its operator creates the first account. If that’s you:"
  >
    <SetupSteps />
  </CenteredPage>
)

export const USER_COMMAND = 'npx towpath user create you@example.com'

/** For a server that has workspaces and keys, and no account. */
export const OperatorNeeded = () => (
  <CenteredPage
    title="Nobody has an account here yet"
    description={
      <>
        The operator makes the first account on the command line:{' '}
        <code className="break-words">{USER_COMMAND}</code>
      </>
    }
  />
)
