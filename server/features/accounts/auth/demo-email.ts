// The address of the account that shows the demonstration where nobody has signed up yet.

export const DEMO_EMAIL = 'demo@towpath.example'
