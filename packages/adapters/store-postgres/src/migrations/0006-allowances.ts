// Allowances: what tenants have spent in the present windows, and their model calls under way.
// Owns the two tables, which follow the rules of 0002-tenants.ts.

const tables = ["allowance_accounts", "allowance_calls"]

// Evaluated for each row, which is cheaper than once a statement where a statement finds one row.
const here = "current_setting('app.tenants', true)"

const policyOf = (table: string): string => `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenants ON ${table} USING (coalesce(${here}, '') = '' OR tenant = ANY (string_to_array(${here}, ',')));`

export const allowances = `
CREATE TABLE allowance_accounts (tenant text PRIMARY KEY, body text NOT NULL);
CREATE TABLE allowance_calls (
  tenant text NOT NULL,
  call text NOT NULL,
  lease_until bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, call)
);
${tables.map(policyOf).join("\n")}
`
