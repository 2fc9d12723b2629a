// The address of the demo account, which the demo uses on a server where nobody has signed up.

export const DEMO_EMAIL = 'demo@towpath.example'
