// The sign-in dialog over a page after its session has ended. It has the options of the sign-in page, and the page
// below keeps the typed text. The identity provider opens in another tab.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Fingerprint, KeyRound } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { canUsePasskeys } from '../../api/passkey.ts'
import { signInWithPasskey } from '../../api/second-factor.ts'
import { signIn, signInOptionsQuery, signInWithOidc, type User } from '../../api/session.ts'
import { answerSignIn, type SessionCheck } from '../../api/session-gate.ts'
import { SESSION_CHANNEL, SIGNED_IN_PATH } from '../../api/signed-in-tab.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { ModalDialog } from '../../ui/overlays/modal-dialog.tsx'
import { SecondStepForm } from '../second-step-form.tsx'

interface SignInDialogProps {
  person: User | undefined
  checkSession: () => Promise<SessionCheck>
}

export function SignInDialog({ person, checkSession }: SignInDialogProps) {
  const [isSecondStep, setSecondStep] = useState(false)
  const [isOther, setOther] = useState(false)
  const password = useRef<HTMLInputElement>(null)
  // The address is known. This runs after the dialog has put the focus into its first field.
  useEffect(() => password.current?.focus(), [])
  async function finish() {
    const session = await checkSession()
    if (session === 'same') answerSignIn(true)
    // The content of the page and its waiting requests belong to the first person.
    else if (session === 'other') await reload()
    else throw new Error('Sign-in failed: this browser blocks cookies from this site.')
  }
  useEffect(() => {
    // The person may sign in in another tab.
    const check = async () => {
      const session = document.visibilityState === 'visible' ? await checkSession() : 'none'
      if (session === 'same') answerSignIn(true)
      setOther(session === 'other')
    }
    const channel = new BroadcastChannel(SESSION_CHANNEL)
    channel.onmessage = check
    addEventListener('focus', check)
    document.addEventListener('visibilitychange', check)
    void check()
    return () => {
      channel.close()
      removeEventListener('focus', check)
      document.removeEventListener('visibilitychange', check)
    }
  }, [checkSession])
  return (
    <ModalDialog
      title="Sign in again"
      description="Your session has ended. Sign in to continue: your input is still here."
      onClose={() => answerSignIn(false)}
    >
      {isOther ? (
        <>
          <p>
            Someone else has signed in in this browser since. Close this dialog to copy your input, or
            continue as the other person and lose it.
          </p>
          <Button onClick={reload}>Load the page again</Button>
        </>
      ) : isSecondStep ? (
        <SecondStepForm onDone={finish} onBack={() => setSecondStep(false)} />
      ) : (
        <FirstStep
          person={person}
          field={password}
          finish={finish}
          onSecondStep={() => setSecondStep(true)}
        />
      )}
    </ModalDialog>
  )
}

/** Never resolves: the page goes away. */
function reload() {
  location.reload()
  return new Promise<never>(() => {})
}

interface StepProps {
  finish: () => Promise<void>
}

interface FirstStepProps extends StepProps {
  person: User | undefined
  field: RefObject<HTMLInputElement | null>
  onSecondStep: () => void
}

function FirstStep({ person, field, finish, onSecondStep }: FirstStepProps) {
  const { data: options } = useQuery(signInOptionsQuery)
  const [email, setEmail] = useState(person?.email ?? '')
  const [password, setPassword] = useState('')
  const withPassword = useMutation({
    mutationFn: async () => ((await signIn({ email, password })).secondFactor ? onSecondStep() : finish()),
    onError: () => field.current?.select(),
  })
  const withPasskey = useMutation({
    mutationFn: async () => {
      await signInWithPasskey()
      await finish()
    },
    onError() {},
  })
  const problem = withPassword.error ?? withPasskey.error
  const isOther = email.trim().toLowerCase() !== person?.email.toLowerCase()
  return (
    <>
      {problem && <FormError>{problem.message}</FormError>}
      <Form
        className="grid gap-4"
        onSubmit={() => {
          withPasskey.reset()
          withPassword.mutate()
        }}
      >
        <TextField
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          hint={isOther ? 'If someone else signs in, the page reloads and your input is lost.' : undefined}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          ref={field}
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
        <Button type="submit" variant="primary" busy={withPassword.isPending}>
          Sign in
        </Button>
      </Form>
      {canUsePasskeys() && (
        <Button
          icon={<Fingerprint size={16} />}
          busy={withPasskey.isPending}
          onClick={() => {
            withPassword.reset()
            withPasskey.mutate()
          }}
        >
          Sign in with a passkey
        </Button>
      )}
      {options?.oidc && <ProviderButton name={options.oidc.name} />}
    </>
  )
}

/** The tab tells this one when the person is signed in (pages/sign-in/signed-in-page.tsx). */
function ProviderButton({ name }: { name: string }) {
  const open = useMutation({
    async mutationFn() {
      // Opened before anything is awaited, because browsers open tabs only for a click.
      const tab = window.open('', '_blank')
      if (!tab) throw new Error('Your browser opened no tab. Allow pop-ups for this page, and try again.')
      try {
        tab.location.href = await signInWithOidc(SIGNED_IN_PATH)
      } catch (error) {
        tab.close()
        throw error
      }
    },
    onError() {},
  })
  return (
    <>
      {open.error && <FormError>{open.error.message}</FormError>}
      <Button icon={<KeyRound size={16} />} busy={open.isPending} onClick={() => open.mutate()}>
        Continue with {name}
      </Button>
      <p role="status" className="text-sm text-soft">
        {open.isSuccess ? 'Sign in there, and come back to this tab.' : 'It opens in a new tab.'}
      </p>
    </>
  )
}
