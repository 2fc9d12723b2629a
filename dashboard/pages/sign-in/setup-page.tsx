// The page for the first account of a server, at the address with the token that the server prints when it starts.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../../api/client.ts'
import { checkSetupToken, signInOptionsQuery } from '../../api/session.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { CenteredPage } from './centered-page.tsx'
import { FirstAccount } from './first-account.tsx'
import { SetupSteps } from './setup-steps.tsx'
import { useAddressToken } from './use-address-token.ts'

export function SetupPage() {
  const token = useAddressToken()
  const options = useQuery(signInOptionsQuery)
  const check = useQuery({
    queryKey: ['setup', token],
    queryFn: () => checkSetupToken(token),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const problem = options.error ?? check.error
  const isWrong = check.error instanceof ApiError && check.error.status === 404
  const isMade = options.data && !['first', 'setup'].includes(options.data.signup)
  if (isMade) return <AlreadySetUp />
  if (isWrong)
    return (
      <CenteredPage
        title="This address doesn’t work"
        description="The token in it is missing or wrong. If you have reloaded the page, open the whole address again."
      >
        <SetupSteps />
      </CenteredPage>
    )
  if (problem)
    return (
      <CenteredPage title="Set up Towpath">
        <ErrorState error={problem} retry={() => Promise.all([options.refetch(), check.refetch()])} />
      </CenteredPage>
    )
  if (!options.data || check.isPending)
    return (
      <CenteredPage title="Set up Towpath">
        <SkeletonRows rows={3} className="h-9" />
      </CenteredPage>
    )
  return <FirstAccount token={token} oidcName={options.data.oidc?.name} />
}

const AlreadySetUp = () => (
  <CenteredPage
    title="Towpath is set up already"
    description="The first account or a workspace already exists, so this address no longer works. If that wasn’t you, ask the operator."
    footer={
      <Link to="/sign-in" search={{}} className="text-link">
        Sign in
      </Link>
    }
  />
)
