"""`batches.db`: batch records, mailboxes and their segments."""
