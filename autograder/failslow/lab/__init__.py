"""What a lab and a submission are."""
