// The sign-up page, for the first account of a server or where sign-up is open.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { signInOptionsQuery, signUp } from '../../api/session.ts'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { AccountForm } from './account-form.tsx'
import { CenteredPage } from './centered-page.tsx'
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
  if (options?.signup === 'invite') {
    return (
      <CenteredPage
        title="Sign-up is by invitation"
        description="Ask an owner of your workspace to invite you, and open the link that they send."
        footer={signInLink}
      />
    )
  }
  const isFirst = options?.signup === 'first'
  return (
    <CenteredPage
      title={isFirst ? 'Welcome to Towpath' : 'Create an account'}
      description={isFirst && 'This is the first account on this server. It will own the first workspace.'}
      footer={isFirst ? undefined : signInLink}
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
