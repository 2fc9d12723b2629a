// The sign-up page, for the first account of a server or where sign-up is open.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { signInOptionsQuery, signUp } from '../../api/session.ts'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { AccountForm } from './account-form.tsx'
import { CenteredPage } from './centered-page.tsx'
import { RequestSignUp } from './request-sign-up.tsx'
import { OperatorNeeded, SetupNeeded } from './setup-steps.tsx'
import { useAfterSignIn } from './use-after-sign-in.ts'

export function SignUpPage() {
  const { next } = useSearch({ from: '/sign-up' })
  const { data: options } = useQuery(signInOptionsQuery)
  const openDashboard = useAfterSignIn()
  const createAccount = useMutation({
    mutationFn: signUp,
    onSuccess: () => openDashboard(next),
    onError() {},
  })
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
  return (
    <CenteredPage
      title="Welcome to Towpath"
      description="This is the first account on this server. It will own the first workspace."
    >
      <AccountForm
        error={createAccount.error}
        busy={createAccount.isPending || createAccount.isSuccess}
        action="Create account"
        onSubmit={createAccount.mutate}
      />
    </CenteredPage>
  )
}
