// Signing in.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { signIn, signInOptionsQuery, signInWithOidc } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { CenteredPage } from './centered-page.tsx'
import { toSafePath, useAfterSignIn } from './use-after-sign-in.ts'

/** Why a provider sent somebody back without a session. */
const PROVIDER_ERRORS: Record<string, string> = {
  sign_up_forbidden: 'Sign-up is by invitation: ask an owner of your workspace for one.',
  account_not_linked:
    'This address has an account with a password. Sign in with that; set the password anew if you have forgotten it.',
  state_mismatch: 'That took too long, or was begun in another window. Try again.',
  access_denied: 'You said no at the provider, so nothing happened.',
}

export function SignInPage() {
  const { next, error } = useSearch({ from: '/sign-in' })
  const { data: options } = useQuery(signInOptionsQuery)
  const entered = useAfterSignIn()
  const enter = useMutation({ mutationFn: signIn, onSuccess: () => entered(next), onError() {} })
  const elsewhere = useMutation({
    mutationFn: () => signInWithOidc(toSafePath(next)),
    onSuccess: (url) => location.assign(url),
    onError() {},
  })
  const problem = enter.error ?? elsewhere.error
  return (
    <CenteredPage
      title="Sign in"
      footer={
        options?.signup === 'invite' ? (
          'New here? Ask an owner of your workspace for an invitation.'
        ) : (
          <>
            New here?{' '}
            <Link to="/sign-up" search={{ next }} className={TEXT_LINK}>
              Create an account
            </Link>
          </>
        )
      }
    >
      {problem && <FormError>{problem.message}</FormError>}
      {!problem && error && (
        <FormError>{PROVIDER_ERRORS[error] ?? 'Signing in did not work. Try again.'}</FormError>
      )}
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          enter.mutate({ email: String(given.get('email')), password: String(given.get('password')) })
        }}
      >
        <TextField label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
        <Button type="submit" look="primary" busy={enter.isPending || enter.isSuccess}>
          Sign in
        </Button>
      </form>
      {options?.oidc && (
        <Button icon={<KeyRound size={16} />} busy={elsewhere.isPending} onClick={() => elsewhere.mutate()}>
          Continue with {options.oidc.name}
        </Button>
      )}
      <Link to="/forgot" className={`text-sm ${TEXT_LINK}`}>
        Forgot your password?
      </Link>
    </CenteredPage>
  )
}
