// Making an account: the first one of this server, or where sign-up is open.

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
  const entered = useAfterSignIn()
  const enter = useMutation({ mutationFn: signUp, onSuccess: () => entered(next), onError() {} })
  const signInLink = (
    <>
      Have an account?{' '}
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
  const first = options?.signup === 'first'
  return (
    <CenteredPage
      title={first ? 'Welcome to Towpath' : 'Create an account'}
      description={first && 'This is the first account of this server. It will own its first workspace.'}
      footer={first ? undefined : signInLink}
    >
      <AccountForm
        error={enter.error}
        busy={enter.isPending || enter.isSuccess}
        action="Create account"
        onSubmit={enter.mutate}
      />
    </CenteredPage>
  )
}
