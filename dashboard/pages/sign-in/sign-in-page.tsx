// The sign-in page, with email and password or with an identity provider (OIDC).

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, Navigate, useSearch } from '@tanstack/react-router'
import { Fingerprint, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { canUsePasskeys } from '../../api/passkey.ts'
import { signInWithPasskey } from '../../api/second-factor.ts'
import { type SignInOptions, signIn, signInOptionsQuery, signInWithOidc } from '../../api/session.ts'
import { SecondStepForm } from '../../shell/second-step-form.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { CenteredPage } from './centered-page.tsx'
import { OperatorNeeded, SetupNeeded, USER_COMMAND } from './setup-steps.tsx'
import { toSafePath, useAfterSignIn } from './use-after-sign-in.ts'

/** Errors that an identity provider sends back, in place of a session. */
const PROVIDER_ERRORS: Record<string, string> = {
  sign_up_forbidden:
    'You can’t create an account this way. Ask an owner of your workspace to invite you; the first account is the operator’s.',
  account_not_linked:
    'This address already has an account with a password. Sign in with the password, or reset it.',
  state_mismatch: 'Sign-in took too long, or it started in another window. Try again.',
  account_suspended: 'The operator of this server has suspended this account.',
  access_denied: 'Sign-in was canceled. Try again.',
}

export function SignInPage() {
  const { next, error, step } = useSearch({ from: '/sign-in' })
  // The identity provider leads back to this page for the second step.
  const [isSecondStep, setSecondStep] = useState(step === 'second-factor')
  const { data: options, isPending } = useQuery(signInOptionsQuery)
  const openDashboard = useAfterSignIn()
  const passwordSignIn = useMutation({
    mutationFn: signIn,
    onSuccess: ({ secondFactor }) => (secondFactor ? setSecondStep(true) : openDashboard(next)),
    onError() {},
  })
  const passkeySignIn = useMutation({
    mutationFn: signInWithPasskey,
    onSuccess: () => openDashboard(next),
    onError() {},
  })
  const oidcSignIn = useMutation({
    mutationFn: () => signInWithOidc(toSafePath(next)),
    onSuccess: (url) => location.assign(url),
    onError() {},
  })
  const problem = passwordSignIn.error ?? passkeySignIn.error ?? oidcSignIn.error
  if (isSecondStep) {
    return <SecondStep onDone={() => openDashboard(next)} onCancel={() => setSecondStep(false)} />
  }
  // On a server without an account, the first page makes the first one, or says how. The demo account can sign in.
  const isUnused = !error && !options?.demo
  if (options?.signup === 'first' && isUnused) return <Navigate to="/sign-up" search={{ next }} replace />
  if (options?.signup === 'setup' && isUnused) return <SetupNeeded />
  if (options?.signup === 'operator' && isUnused) return <OperatorNeeded />
  if (isPending) {
    return (
      <CenteredPage title="Sign in">
        <SkeletonRows rows={3} className="h-9" />
      </CenteredPage>
    )
  }
  return (
    <CenteredPage title="Sign in" footer={<SignUpHint signup={options?.signup} next={next} />}>
      {problem && <FormError>{problem.message}</FormError>}
      {!problem && error && <FormError>{PROVIDER_ERRORS[error] ?? 'Sign-in failed. Try again.'}</FormError>}
      <PasswordForm
        busy={passwordSignIn.isPending || (passwordSignIn.isSuccess && !passwordSignIn.data.secondFactor)}
        onSubmit={(input) => passwordSignIn.mutate(input)}
      />
      {canUsePasskeys() && (
        <Button
          icon={<Fingerprint size={16} />}
          busy={passkeySignIn.isPending || passkeySignIn.isSuccess}
          onClick={() => passkeySignIn.mutate()}
        >
          Sign in with a passkey
        </Button>
      )}
      {options?.oidc && (
        <Button icon={<KeyRound size={16} />} busy={oidcSignIn.isPending} onClick={() => oidcSignIn.mutate()}>
          Continue with {options.oidc.name}
        </Button>
      )}
      <Link to="/forgot" className="text-sm text-link">
        Forgot your password?
      </Link>
    </CenteredPage>
  )
}

/** The second step of a sign-in: a second factor after the password, or after the identity provider. */
const SecondStep = ({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) => (
  <CenteredPage title="Two-factor sign-in" description="Confirm it’s you.">
    <SecondStepForm onDone={onDone} onBack={onCancel} />
  </CenteredPage>
)

function SignUpHint({ signup, next }: { signup: SignInOptions['signup'] | undefined; next?: string }) {
  if (signup === 'invite') return 'New here? Ask an owner of your workspace for an invitation.'
  if (signup === 'setup')
    return 'New here? The operator creates the first account, at the address printed at startup.'
  if (signup === 'operator')
    return (
      <>
        New here? The operator creates the first account: <code className="break-words">{USER_COMMAND}</code>
      </>
    )
  return (
    <>
      New here?{' '}
      <Link to="/sign-up" search={{ next }} className="text-link">
        Create an account
      </Link>
    </>
  )
}

function PasswordForm({
  busy,
  onSubmit,
}: {
  busy: boolean
  onSubmit: (input: { email: string; password: string }) => void
}) {
  return (
    <Form
      className="grid gap-4"
      onSubmit={(fields) =>
        onSubmit({ email: String(fields.get('email')), password: String(fields.get('password')) })
      }
    >
      <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
      <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
      <Button type="submit" variant="primary" busy={busy}>
        Sign in
      </Button>
    </Form>
  )
}
