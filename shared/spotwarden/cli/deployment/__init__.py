"""Commands about a deployment: is it well?"""
