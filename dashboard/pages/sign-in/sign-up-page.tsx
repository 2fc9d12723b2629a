// The sign-up page, for the first account of a server or where sign-up is open.

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { signInOptionsQuery } from '../../api/session.ts'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { CenteredPage } from './centered-page.tsx'
import { FirstAccount } from './first-account.tsx'
import { RequestSignUp } from './request-sign-up.tsx'
import { OperatorNeeded, SetupNeeded } from './setup-steps.tsx'

export function SignUpPage() {
  const { next } = useSearch({ from: '/sign-up' })
  const { data: options } = useQuery(signInOptionsQuery)
  const signInLink = (
    <>
      Already have an account?{' '}
      <Link to="/sign-in" search={{ next }} className={TEXT_LINK}>
        Sign in
      </Link>
    </>
  )
  if (options?.signup === 'setup') return <SetupNeeded />
  if (options?.signup === 'operator') return <OperatorNeeded />
  if (options?.signup === 'open') return <RequestSignUp footer={signInLink} />
  if (options?.signup === 'invite') {
    return (
      <CenteredPage
        title="Sign-up is by invitation"
        description="Ask an owner of your workspace to invite you, and open the link that they send."
        footer={signInLink}
      />
    )
  }
  if (!options) {
    return (
      <CenteredPage title="Create an account">
        <SkeletonRows rows={3} className="h-9" />
      </CenteredPage>
    )
  }
  return <FirstAccount oidcName={options.oidc?.name} />
}
